"""Processors that write down what they are asked, and change, resolve or fail as they are told."""


class Spy:
    """Writes down each step, and changes it as it is told."""

    def __init__(self, change=lambda step: step, *, name="spy"):
        self.id = name
        self.change = change
        self.steps = []

    async def process_input_step(self, step):
        self.steps.append(step)
        return self.change(step)


class Resolver(Spy):
    """A spy that also has tools which no step lists; its methods named in `failing` raise that error."""

    def __init__(self, tools=(), *, reserved=(), tokens=0, text=None, failing=(), name="resolver"):
        super().__init__(name=name)
        self.tools = {tool.name: tool for tool in tools}
        self.reserved_names = frozenset(reserved)
        self.tokens = tokens
        self.failing = dict(failing)
        self.ended = []
        if text is not None:
            self.missing_tool_text = text

    async def process_input_step(self, step):
        changed = await super().process_input_step(step)
        self.fail_at("process_input_step")
        return changed

    async def resolve_call(self, step, name):
        self.fail_at("resolve_call")
        return self.tools.get(name)

    async def definition_tokens(self, step):
        self.fail_at("definition_tokens")
        return self.tokens

    async def end_run(self, step):
        self.ended.append(step.run_id)
        self.fail_at("end_run")

    def fail_at(self, method):
        if (error := self.failing.get(method)) is not None:
            raise error
