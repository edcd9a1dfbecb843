"""bm25s with its own tokenizer, English stop words and PyStemmer, as its README shows."""

import bm25s
import Stemmer
from protocol import serve, text_of


def build(tools):
    """Index name, description and parameters."""
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    texts = [text_of(tool) for tool in tools]
    index.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )

    def search(query, limit):
        tokens = bm25s.tokenize(query, stopwords="en", stemmer=stemmer, show_progress=False)
        places, scores = index.retrieve(tokens, k=min(limit, len(tools)), show_progress=False)
        return [tools[place]["name"] for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search


serve("bm25s", build)
