"""Measures whether a search finds what it should: metrics, data sets, reports, and a linter for catalogs.

```python
from tool_search_processor.evaluation import evaluate, load_folder
from tool_search_processor.search.bm25 import BM25Index

dataset = load_folder("my_set")  # tools.jsonl and queries.jsonl
report = evaluate(BM25Index, dataset.tools, dataset.queries)
print(report.metrics["recall@5"])
```
"""

from tool_search_processor.evaluation.data import (
    Dataset,
    Query,
    load_dataset,
    load_folder,
    load_queries,
    load_tools,
    make_dataset,
)
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.evaluation.history import Past, load_history
from tool_search_processor.evaluation.html import html_report
from tool_search_processor.evaluation.lint import Finding, LintReport, lint
from tool_search_processor.evaluation.measure import evaluate
from tool_search_processor.evaluation.metrics import (
    Estimate,
    auc,
    bootstrap_interval,
    completeness_at,
    hit_at,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from tool_search_processor.evaluation.report import METRICS, Outcome, Report, macro_average

__all__ = [
    "METRICS",
    "DataError",
    "Dataset",
    "Estimate",
    "Finding",
    "LintReport",
    "Outcome",
    "Past",
    "Query",
    "Report",
    "auc",
    "bootstrap_interval",
    "completeness_at",
    "evaluate",
    "hit_at",
    "html_report",
    "lint",
    "load_dataset",
    "load_folder",
    "load_history",
    "load_queries",
    "load_tools",
    "macro_average",
    "make_dataset",
    "ndcg_at",
    "recall_at",
    "reciprocal_rank",
]
