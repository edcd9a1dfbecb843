"""What counts as a transform."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.transforms import Namespace
from tool_search_processor.transforms.transform import as_transforms


def test_as_transforms_takes_instances():
    one = Namespace("a")
    assert as_transforms([one]) == (one,)
    with pytest.raises(ConfigurationError, match="put it in a list"):
        as_transforms(one)
    with pytest.raises(ConfigurationError, match=r"create it, as in Namespace\('api'\)"):
        as_transforms([Namespace])
