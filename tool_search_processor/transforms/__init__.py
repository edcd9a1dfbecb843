"""Transforms: list to list, on the way from a provider to the model."""

from tool_search_processor.transforms.argument_overlay import MISSING, ArgTransform
from tool_search_processor.transforms.namespace import Namespace
from tool_search_processor.transforms.rows import apply_transforms, compose_get, overrides_get
from tool_search_processor.transforms.tag_filter import TagFilter
from tool_search_processor.transforms.tool_transform import ToolTransform, ToolTransformConfig
from tool_search_processor.transforms.transform import (
    GetPromptNext,
    GetResourceNext,
    GetResourceTemplateNext,
    GetToolNext,
    Transform,
)
from tool_search_processor.transforms.visibility import Visibility

__all__ = [
    "MISSING",
    "ArgTransform",
    "GetPromptNext",
    "GetResourceNext",
    "GetResourceTemplateNext",
    "GetToolNext",
    "Namespace",
    "TagFilter",
    "ToolTransform",
    "ToolTransformConfig",
    "Transform",
    "Visibility",
    "apply_transforms",
    "compose_get",
    "overrides_get",
]
