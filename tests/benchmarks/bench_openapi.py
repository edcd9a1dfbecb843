"""Large OpenAPI documents: how long does an import take, and is every tool valid?

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python tests/benchmarks/bench_openapi.py package/generated/api.github.com.json swagger.json

Kubernetes' document is `api/openapi-spec/swagger.json` of its repository. For each file: CPU time of reading
and of making the tools, operations, tokens of all definitions, whether each schema is valid JSON Schema
2020-12, and whether each name is valid and unique. With GitHub's document 20 calls are made as well, and
what they put on the wire is compared with what GitHub's documentation says; nothing leaves the machine.

Ends with 1 where anything is wrong, or an import took more than 8 s of CPU.
"""

import argparse
import asyncio
import json
import sys
import time

import respx
from jsonschema import Draft202012Validator

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.providers import OpenAPIProvider
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.tools.tool_names import is_tool_name

TARGET_SECONDS = 8.0
GITHUB = "https://api.github.com"
REPO = {"owner": "octo", "repo": "hello"}
AT = "/repos/octo/hello"

# Name, arguments, method, path and query, and the body as JSON (a text: as it is).
CALLS = [
    ("meta_root", {}, "GET", "/", None),
    ("users_get-by-username", {"username": "a b/c"}, "GET", "/users/a%20b%2Fc", None),
    ("repos_list-for-user", {"username": "octo", "type": "owner", "per_page": 5}, "GET",
     "/users/octo/repos?type=owner&per_page=5", None),
    ("search_code", {"q": "addClass in:file+x&y", "page": 2}, "GET",
     "/search/code?q=addClass%20in%3Afile%2Bx%26y&page=2", None),
    ("search_issues-and-pull-requests", {"q": "is:open label:\"bug\""}, "GET",
     "/search/issues?q=is%3Aopen%20label%3A%22bug%22", None),
    ("issues_create", {**REPO, "title": "Ü", "labels": ["bug", {"name": "x"}], "assignee": None}, "POST",
     f"{AT}/issues", {"title": "Ü", "labels": ["bug", {"name": "x"}], "assignee": None}),
    ("issues_update", {**REPO, "issue_number": 3, "state": "closed"}, "PATCH", f"{AT}/issues/3",
     {"state": "closed"}),
    ("issues_lock", {**REPO, "issue_number": 3}, "PUT", f"{AT}/issues/3/lock", None),
    ("issues_add-labels", {**REPO, "issue_number": 3, "body": {"labels": ["a"]}}, "POST",
     f"{AT}/issues/3/labels", {"labels": ["a"]}),
    ("issues_remove-label", {**REPO, "issue_number": 3, "name": "help wanted/?"}, "DELETE",
     f"{AT}/issues/3/labels/help%20wanted%2F%3F", None),
    ("repos_get-content", {**REPO, "path": "src/main.py", "ref": "v1"}, "GET",
     f"{AT}/contents/src%2Fmain.py?ref=v1", None),
    ("repos_create-or-update-file-contents", {**REPO, "path": "a.md", "message": "m", "content": "YQ=="},
     "PUT", f"{AT}/contents/a.md", {"message": "m", "content": "YQ=="}),
    ("git_create-tree", {**REPO, "tree": [{"path": "f", "mode": "100644"}]}, "POST", f"{AT}/git/trees",
     {"tree": [{"path": "f", "mode": "100644"}]}),
    ("pulls_create", {**REPO, "head": "f", "base": "main", "draft": True}, "POST", f"{AT}/pulls",
     {"head": "f", "base": "main", "draft": True}),
    ("pulls_merge", {**REPO, "pull_number": 7, "merge_method": "squash"}, "PUT", f"{AT}/pulls/7/merge",
     {"merge_method": "squash"}),
    ("gists_create", {"files": {"a.txt": {"content": "x"}}, "public": False}, "POST", "/gists",
     {"files": {"a.txt": {"content": "x"}}, "public": False}),
    ("markdown_render-raw", {"body": "# hi"}, "POST", "/markdown/raw", "# hi"),
    ("actions_list-workflow-runs-for-repo", {**REPO, "status": "success", "created": ">2026-01-01"}, "GET",
     f"{AT}/actions/runs?status=success&created=%3E2026-01-01", None),
    ("teams_add-or-update-membership-for-user-in-org",
     {"org": "o", "team_slug": "t", "username": "u", "role": "maintainer"}, "PUT",
     "/orgs/o/teams/t/memberships/u", {"role": "maintainer"}),
    ("repos_delete", REPO, "DELETE", AT, None),
]  # fmt: skip


def main():
    """Import each file and say what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="documents, JSON or YAML")
    fine = [asyncio.run(measure(path)) for path in parser.parse_args().files]
    sys.exit(not all(fine))


async def measure(path):
    """Print the figures of one document; return whether all is well."""
    try:
        provider, spent = imported(path)
    except ConfigurationError:  # Kubernetes' names no server
        provider, spent = imported(path, base_url="https://api.example.com")
    tools = await provider.list_tools({})
    costs = sorted(estimate_tokens(tool.definition_json) for tool in tools)
    print(f"{path}: {provider.name}")
    print(f"  {spent:.2f} s CPU, {len(tools):,} tools, {sum(costs):,} tokens of definitions")
    print(f"  a definition: median {costs[len(costs) // 2]:,} tokens, largest {costs[-1]:,}")
    faults = [*names_faults(tools), *schemas_faults(tools)]
    if "GitHub" in provider.name:
        faults += await calls_faults({tool.name: tool for tool in tools})
    if spent > TARGET_SECONDS:
        faults.append(f"more than {TARGET_SECONDS} s")
    for fault in faults:
        print(f"  FAULT {fault}")
    await provider.aclose()
    return not faults


def imported(path, **options):
    """Return the provider of a document, and the seconds of CPU that it took."""
    began = time.process_time()
    provider = OpenAPIProvider(path, **options)
    return provider, time.process_time() - began


def names_faults(tools):
    """Return names that no provider accepts, and those of two tools."""
    names = [tool.name for tool in tools]
    print(f"  names: {len(set(names)):,} different ones")
    return [name for name in names if not is_tool_name(name) or names.count(name) > 1]


def schemas_faults(tools):
    """Return the tools whose schemas are no JSON Schema, or whose references lead nowhere."""
    faults = []
    for tool in tools:
        for schema in filter(None, (tool.parameters, tool.output_schema)):
            faults += [f"{tool.name}: {error.message[:100]}" for error in VALIDATOR.iter_errors(schema)]
            used = {part.split('"')[0] for part in json.dumps(schema).split('"#/$defs/')[1:]}
            if used != set(schema.get("$defs", {})):
                faults.append(f"{tool.name}: definitions and references differ")
    print(f"  schemas: {len(tools):,} checked against the metaschema of 2020-12")
    return faults


VALIDATOR = Draft202012Validator(Draft202012Validator.META_SCHEMA)


async def calls_faults(tools):
    """Make the calls; return those that put something else on the wire."""
    faults = []
    for name, arguments, method, target, body in CALLS:
        with respx.mock:
            route = respx.route().respond(json={"done": name})
            try:
                answer = await tools[name].call(arguments)
            except (ToolSearchError, KeyError) as error:
                faults.append(f"{name}: {error!r}")
                continue
            sent = route.calls[0].request
        content = (
            sent.content.decode() if isinstance(body, str) or not sent.content else json.loads(sent.content)
        )
        found = (sent.method, str(sent.url), content or None, answer)
        wanted = (method, GITHUB + target, body, {"done": name})
        if found != wanted:
            faults.append(f"{name}: {found} and not {wanted}")
    print(f"  calls: {len(CALLS)} compared with the wire")
    return faults


if __name__ == "__main__":
    main()
