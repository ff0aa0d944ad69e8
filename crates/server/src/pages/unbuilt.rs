//! What stands in place of the dashboard in a binary that was built without it.

use super::page;

pub(crate) fn render() -> String {
    page(
        "abide",
        "docs",
        "<header>\n<h1>abide</h1>\n<p>The server runs. Its dashboard is not in this binary, because it was built without \
         it. With Node 20 or newer:</p>\n<pre>./web/build\ncargo build --release</pre>\n<p>Everything else is there: \
         <a href=\"docs\">the API and its documentation</a>.</p>\n</header>",
    )
}
