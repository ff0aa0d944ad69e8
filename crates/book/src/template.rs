//! What stands around the content of a page: the list of chapters, the search, the way on.

use std::fmt::Write;

use crate::page::Page;
use crate::{Book, Chapter, place, search};

/// The files that every page loads.
pub(crate) const ASSETS: [(&str, &str); 4] = [
    ("book.css", include_str!("../assets/book.css")),
    ("book.js", include_str!("../assets/book.js")),
    ("theme.js", include_str!("../assets/theme.js")),
    ("icon.svg", include_str!("../../../web/public/icon.svg")),
];

pub(crate) fn page(book: &Book, page: &Page) -> String {
    let here = place::in_book(&page.path);
    let root = "../".repeat(here.matches('/').count());
    let chapters: Vec<&Chapter> = book.chapters().collect();
    let at = chapters.iter().position(|chapter| chapter.path == page.path);
    let title = match at {
        Some(at) => &chapters[at].title,
        None => &page.title,
    };
    let neighbour = |chapter: Option<&&Chapter>, rel: &str, way: &str| {
        chapter.map_or(String::new(), |chapter| {
            let to = place::between(&here, &place::in_book(&chapter.path));
            format!("<a rel=\"{rel}\" href=\"{to}\"><small>{way}</small>{}</a>", escape(&chapter.title))
        })
    };
    let before =
        neighbour(at.and_then(|at| at.checked_sub(1)).and_then(|at| chapters.get(at)), "prev", "Before");
    let after = neighbour(at.and_then(|at| chapters.get(at + 1)), "next", "Next");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · abide</title>\n\
         <link rel=\"icon\" href=\"{root}icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"{root}book.css\">\n<script src=\"{root}theme.js\"></script>\n\
         <script src=\"{root}book.js\" defer data-root=\"{root}\" data-index=\"{root}{index}\"></script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">To the content</a>\n\
         <header>\n<button id=\"menu\" type=\"button\" aria-expanded=\"false\" aria-controls=\"chapters\">Chapters</button>\n\
         <a class=\"name\" href=\"{root}index.html\">abide</a>\n\
         <div id=\"search\" role=\"search\"><input type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search the book\" \
         autocomplete=\"off\" spellcheck=\"false\"><ol hidden></ol></div>\n\
         <button id=\"theme\" type=\"button\">Colours</button>\n</header>\n\
         <nav id=\"chapters\" aria-label=\"Chapters\">\n{chapters}</nav>\n\
         <main id=\"content\" tabindex=\"-1\">\n<article>\n{html}</article>\n\
         <footer>{before}{after}</footer>\n</main>\n{contents}</body>\n</html>\n",
        title = escape(title),
        index = search::INDEX,
        chapters = list_of_chapters(book, &here),
        html = page.html,
        contents = contents(page),
    )
}

fn list_of_chapters(book: &Book, here: &str) -> String {
    let mut html = String::new();
    for part in &book.parts {
        if !part.title.is_empty() {
            writeln!(html, "<h2>{}</h2>", escape(&part.title)).expect("a String takes everything");
        }
        html.push_str("<ul>\n");
        for chapter in &part.chapters {
            let to = place::in_book(&chapter.path);
            let current = if to == here { " aria-current=\"page\"" } else { "" };
            let link = place::between(here, &to);
            let class = if chapter.depth > 0 { " class=\"inner\"" } else { "" };
            writeln!(html, "<li{class}><a href=\"{link}\"{current}>{}</a></li>", escape(&chapter.title))
                .expect("a String takes everything");
        }
        html.push_str("</ul>\n");
    }
    html
}

/// The headings of a page that has enough of them.
fn contents(page: &Page) -> String {
    let headings: Vec<_> = page.headings.iter().filter(|heading| [2, 3].contains(&heading.level)).collect();
    if headings.len() < 3 {
        return String::new();
    }
    let mut html = String::from("<aside aria-label=\"On this page\">\n<h2>On this page</h2>\n<ul>\n");
    for heading in headings {
        let (level, anchor) = (heading.level, &heading.anchor);
        writeln!(
            html,
            "<li class=\"level-{level}\"><a href=\"#{anchor}\">{}</a></li>",
            escape(&heading.text)
        )
        .expect("a String takes everything");
    }
    html.push_str("</ul>\n</aside>\n");
    html
}

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
