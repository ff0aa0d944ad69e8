//! What stands in place of the dashboard, or of the book, in a binary that was built without it.

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

/// The book is made of `docs/` when the binary is built, and needs no tool for it.
pub(crate) fn book() -> String {
    page(
        "The book of abide",
        "docs",
        "<header>\n<h1>The book is not in this binary</h1>\n<p>It was built without the folder <code>docs</code> beside its \
         source. In a clone of the repository, this builds one with it:</p>\n<pre>cargo build --release -p abide-cli</pre>\n\
         <p>The pages are also readable as they are, in <code>docs/</code>. <a href=\"../docs\">The API and its documentation</a> \
         are here.</p>\n</header>",
    )
}
