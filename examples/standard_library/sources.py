"""Reading Python source, by `ast`, `dis`, `keyword`, `tokenize` and `inspect`; none of it is run."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import pprint
import token
import tokenize
from typing import Annotated, Any

from pydantic import Field, JsonValue

Source = Annotated[str, Field(max_length=50_000)]


def check_python_syntax(source: Source) -> dict[str, Any]:
    """Check Python code for syntax errors, without running it.

    Args:
        source: The code.
    """
    try:
        ast.parse(source)
    except SyntaxError as exc:
        return {"valid": False, "reason": exc.msg, "line": exc.lineno}
    return {"valid": True}


def list_python_functions(source: Source) -> list[dict[str, Any]]:
    """List the functions of Python code with their arguments and lines.

    Args:
        source: The code.
    """
    functions = (
        n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [{"name": f.name, "arguments": ast.unparse(f.args), "line": f.lineno} for f in functions]


def list_python_imports(source: Source) -> list[str]:
    """List the modules that Python code imports.

    Args:
        source: The code.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return sorted(names)


def python_docstring(source: Source) -> str | None:
    """Read the docstring of a Python module, without running it.

    Args:
        source: The code.
    """
    return ast.get_docstring(ast.parse(source))


def dump_syntax_tree(source: Annotated[str, Field(max_length=2000)]) -> str:
    """Show the abstract syntax tree (AST) of Python code.

    Args:
        source: The code.
    """
    return ast.dump(ast.parse(source), indent=1)


def normalize_python_code(source: Source) -> str:
    """Rewrite Python code in a normal form, without comments and extra parentheses.

    Args:
        source: The code.
    """
    return ast.unparse(ast.parse(source))


def disassemble_python(source: Annotated[str, Field(max_length=2000)]) -> list[str]:
    """List the bytecode instructions that Python code compiles to.

    Args:
        source: The code.
    """
    import dis

    code = compile(source, "<source>", "exec")
    return [f"{step.opname} {step.argrepr}".strip() for step in dis.get_instructions(code)]


def tokenize_python(source: Annotated[str, Field(max_length=5000)]) -> list[list[str]]:
    """Split Python code into tokens with their types.

    Args:
        source: The code.
    """
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [[token.tok_name[part.exact_type], part.string] for part in tokens if part.string.strip()]


def list_python_comments(source: Source) -> list[str]:
    """List the comments of Python code.

    Args:
        source: The code.
    """
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [part.string for part in tokens if part.type == tokenize.COMMENT]


def parse_python_literal(text: Source) -> JsonValue:
    """Read a Python literal such as a dict or a list into data, safely.

    Args:
        text: Such as "{'a': (1, 2)}".
    """
    value = ast.literal_eval(text)
    return list(value) if isinstance(value, tuple | set) else value


def is_python_keyword(word: str) -> dict[str, bool]:
    """Check whether a word is a Python keyword, a builtin or a valid identifier.

    Args:
        word: The word.
    """
    return {
        "keyword": keyword.iskeyword(word),
        "soft_keyword": keyword.issoftkeyword(word),
        "builtin": hasattr(builtins, word),
        "identifier": word.isidentifier(),
    }


def python_function_signature(function: Annotated[str, Field(pattern=r"^[a-z]+$")]) -> str:
    """Show the signature of a Python builtin function such as sorted.

    Args:
        function: The function's name.
    """
    import inspect

    return function + str(inspect.signature(getattr(builtins, function)))


def pretty_print_data(data: JsonValue, width: Annotated[int, Field(ge=10, le=200)] = 80) -> str:
    """Lay out nested data readably over several lines, as Python shows it.

    Args:
        data: Any JSON value.
        width: The longest line, in characters.
    """
    return pprint.pformat(data, width=width)
