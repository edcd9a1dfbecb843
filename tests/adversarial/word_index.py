"""Names of a few words, names as a model calls them, and an index without statistics over them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tool_search_processor.search.protocol import Hit

WORDS = ["create", "list", "issue", "mail", "user"]
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map("_".join)
called = st.one_of(
    names, names.map(lambda name: name.upper().replace("_", "-")), st.sampled_from(["creat_isue", "x"])
)


class WordIndex:
    """Scores each document by itself: what is left between two catalogs is no matter of statistics."""

    def update(self, documents):
        self.documents = list(documents)

    def search(self, query, *, limit=None, within=None, extra=()):
        asked = set(re.findall(r"[a-z]+", query.lower()))
        found = [
            Hit(name=document.name, score=len(asked & set(document.name.split("_"))) / (len(asked) + 1))
            for document in (*self.documents, *extra)
            if within is None or document.name in within or document in extra
        ]
        return sorted((hit for hit in found if hit.score > 0), key=lambda hit: -hit.score)[:limit]
