"""What a gateway passes on besides tools: resources, resource templates and prompts."""

from tool_search_processor.components.kinds import (
    Complete,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
)

__all__ = ["Complete", "Prompt", "PromptArgument", "Resource", "ResourceTemplate"]
