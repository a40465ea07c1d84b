from sinkdist.markup import table


def test_text_is_escaped_and_rows_have_headings():
    html = table("<caption>", [("<b>", "&", 1)], ("one", "two", "three"))
    assert "<b>" not in html and "&lt;b&gt;" in html and "&amp;" in html
    assert html.count("<th") == 4 and html.count("<td>") == 2
