from tool_search_processor.providers.mcp.notices import Marks


def test_marks_move_when_a_server_comes_back_whose_list_was_not_had():
    marks = Marks()
    marks.connected()
    assert marks.count == 0
    marks.fail()
    marks.connected()
    marks.connected()
    assert marks.count == 1
    marks.change()
    assert marks.count == 2
