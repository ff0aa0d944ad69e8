//! One page: its Markdown as HTML, with the headings, links, sections and blocks of code that it has.

use std::path::Path;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::highlight::highlighted;
use crate::place;
use crate::slug::Slugs;
use crate::template::escape;

#[derive(Debug)]
pub struct Page {
    /// From the root of the repository.
    pub path: String,
    pub title: String,
    /// The content of the page, without what stands around it.
    pub html: String,
    pub codes: Vec<Code>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    pub(crate) sections: Vec<Section>,
}

/// A block of code on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// What stands after the fence: a language, and marks of ours after it.
    pub info: String,
    pub text: String,
    pub line: usize,
}

#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) level: usize,
    pub(crate) anchor: String,
    pub(crate) text: String,
}

/// A link to a file of the repository.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) written: String,
    pub(crate) path: String,
    pub(crate) anchor: Option<String>,
    /// The file is a page of the book because of it.
    pub(crate) page: bool,
    pub(crate) image: bool,
}

/// What stands under one heading.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) anchor: String,
    pub(crate) heading: String,
    pub(crate) text: String,
}

impl Page {
    /// The first words of the page, in one line.
    pub(crate) fn about(&self, chars: usize) -> String {
        let words = self.sections.iter().map(|section| section.text.trim()).find(|text| !text.is_empty());
        let words: Vec<&str> = words.unwrap_or_default().split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(chars) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line,
        }
    }

    pub(crate) fn read(path: &str, text: String, root: &Path) -> Page {
        if path.ends_with(".md") { Reader::new(path, root).read(&text) } else { source(path, &text) }
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    pub(crate) fn anchors(&self) -> impl Iterator<Item = &str> {
        self.headings.iter().map(|heading| heading.anchor.as_str())
    }
}

/// Of a longer file of code the page shows its beginning: nobody reads it here, and every binary would carry it.
const LONGEST_SOURCE: usize = 100_000;

/// A page that is a file of code, as it stands.
fn source(path: &str, text: &str) -> Page {
    let language = path.rsplit('.').next().unwrap_or_default();
    let shown = beginning(text, LONGEST_SOURCE);
    let left = text[shown.len()..].lines().count();
    let more = match left {
        0 => String::new(),
        left => format!("<p>… and {left} more lines, in the repository.</p>\n"),
    };
    let code = highlighted(language, shown);
    let html = format!("<h1>{}</h1>\n<pre><code>{code}</code></pre>\n{more}", escape(path));
    Page {
        path: path.to_owned(),
        title: path.to_owned(),
        html,
        codes: Vec::new(),
        headings: Vec::new(),
        links: Vec::new(),
        sections: Vec::new(),
    }
}

/// The lines of a text that fit into so many bytes.
fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = text.bytes().take(most).rposition(|byte| byte == b'\n').map_or(0, |newline| newline + 1);
    &text[..end]
}

struct Reader<'a> {
    root: &'a Path,
    page: Page,
    slugs: Slugs,
}

impl<'a> Reader<'a> {
    fn new(path: &str, root: &'a Path) -> Reader<'a> {
        let page = Page {
            path: path.to_owned(),
            title: path.to_owned(),
            html: String::new(),
            codes: Vec::new(),
            headings: Vec::new(),
            links: Vec::new(),
            sections: vec![Section { anchor: String::new(), heading: String::new(), text: String::new() }],
        };
        Reader { root, page, slugs: Slugs::default() }
    }

    fn read(mut self, text: &str) -> Page {
        let mut parser = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
        let mut events = Vec::new();
        while let Some((event, range)) = parser.next() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let inner: Vec<Event<'_>> = parser
                        .by_ref()
                        .map(|(event, _)| event)
                        .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
                        .collect();
                    events.push(self.heading(level, inner));
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let line = text[..range.start].lines().count() + 1;
                    let code: String =
                        parser
                            .by_ref()
                            .map(|(event, _)| event)
                            .take_while(|event| !matches!(event, Event::End(TagEnd::CodeBlock)))
                            .map(|event| {
                                if let Event::Text(text) = event { text.into_string() } else { String::new() }
                            })
                            .collect();
                    events.push(self.code(kind, code, line));
                }
                Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                    let dest_url = self.link(dest_url);
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let alt: String =
                        parser
                            .by_ref()
                            .map(|(event, _)| event)
                            .take_while(|event| !matches!(event, Event::End(TagEnd::Image)))
                            .map(|event| {
                                if let Event::Text(text) = event { text.into_string() } else { String::new() }
                            })
                            .collect();
                    events.push(self.image(&dest_url, &alt));
                }
                Event::Start(Tag::Table(alignments)) => {
                    events.push(Event::Html("<div class=\"table\">".into()));
                    events.push(Event::Start(Tag::Table(alignments)));
                }
                Event::End(TagEnd::Table) => {
                    events.push(Event::End(TagEnd::Table));
                    events.push(Event::Html("</div>\n".into()));
                }
                Event::Text(text) => {
                    self.say(&text);
                    events.push(Event::Text(text));
                }
                Event::Code(text) => {
                    self.say(&text);
                    events.push(Event::Code(text));
                }
                Event::SoftBreak | Event::HardBreak | Event::End(_) => {
                    self.say(" ");
                    events.push(event);
                }
                Event::Start(_)
                | Event::Html(_)
                | Event::InlineHtml(_)
                | Event::InlineMath(_)
                | Event::DisplayMath(_)
                | Event::FootnoteReference(_)
                | Event::Rule
                | Event::TaskListMarker(_) => events.push(event),
            }
        }
        html::push_html(&mut self.page.html, events.into_iter());
        self.page
    }

    /// Text goes to the section that it stands in, for the search.
    fn say(&mut self, text: &str) {
        if let Some(section) = self.page.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn heading<'e>(&mut self, level: HeadingLevel, inner: Vec<Event<'e>>) -> Event<'e> {
        let text: String = inner
            .iter()
            .filter_map(
                |event| if let Event::Text(t) | Event::Code(t) = event { Some(t.as_ref()) } else { None },
            )
            .collect();
        let anchor = self.slugs.next(&text);
        let level = level as usize;
        if level == 1 {
            self.page.title.clone_from(&text);
        }
        self.page.headings.push(Heading { level, anchor: anchor.clone(), text: text.clone() });
        self.page.sections.push(Section { anchor: anchor.clone(), heading: text, text: String::new() });
        let inner: Vec<Event<'e>> = inner
            .into_iter()
            .filter(|event| !matches!(event, Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link)))
            .collect();
        let mut content = String::new();
        html::push_html(&mut content, inner.into_iter());
        let heading = format!("<h{level} id=\"{anchor}\"><a href=\"#{anchor}\">{content}</a></h{level}>\n");
        Event::Html(heading.into())
    }

    fn code<'e>(&mut self, kind: CodeBlockKind<'_>, text: String, line: usize) -> Event<'e> {
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.into_string(),
            CodeBlockKind::Indented => String::new(),
        };
        self.say(&text);
        let language = info.split_whitespace().next().unwrap_or_default();
        let html = format!("<pre><code>{}</code></pre>\n", highlighted(language, &text));
        self.page.codes.push(Code { info, text, line });
        Event::Html(html.into())
    }

    /// Where a link leads in the book. What it does not have is left as text would be: without a target.
    fn link<'e>(&mut self, written: CowStr<'e>) -> CowStr<'e> {
        if written.contains("://") || written.starts_with("mailto:") {
            return written;
        }
        // A link of rustdoc, in the list of modules that is made of their comments.
        if written.contains("::") {
            return "#".into();
        }
        let (file, anchor) = match written.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor.to_owned())),
            None => (written.as_ref(), None),
        };
        let path = if file.is_empty() {
            Some(self.page.path.clone())
        } else {
            place::resolved(&self.page.path, file)
        };
        let mut path = path.unwrap_or_else(|| file.to_owned());
        if self.root.join(&path).is_dir() && self.root.join(&path).join("README.md").is_file() {
            path.push_str("/README.md");
        }
        let page = self.root.join(&path).is_file() && !place::is_image(&path);
        let link = Link {
            written: written.to_string(),
            path: path.clone(),
            anchor: anchor.clone(),
            page,
            image: false,
        };
        self.page.links.push(link);
        if !page {
            return "#".into();
        }
        let to = place::between(&place::in_book(&self.page.path), &place::in_book(&path));
        match anchor {
            Some(anchor) if file.is_empty() => format!("#{anchor}").into(),
            Some(anchor) => format!("{to}#{anchor}").into(),
            None => to.into(),
        }
    }

    /// A drawing is put into the page, to have its colours; of a screenshot there is one for light and one for dark.
    fn image<'e>(&mut self, written: &str, alt: &str) -> Event<'e> {
        self.say(alt);
        let path = place::resolved(&self.page.path, written).unwrap_or_else(|| written.to_owned());
        let found = self.root.join(&path).is_file();
        let is_drawing = path.ends_with(".svg");
        self.note_image(written, &path, found && !is_drawing);
        if is_drawing {
            let drawing = std::fs::read_to_string(self.root.join(&path)).unwrap_or_default();
            return Event::InlineHtml(drawing_in_page(&drawing, alt).into());
        }
        let shown = |path: &str, class: &str| {
            let to = place::between(&place::in_book(&self.page.path), &place::in_book(path));
            format!("<img{class} src=\"{}\" alt=\"{}\" loading=\"lazy\">", escape(&to), escape(alt))
        };
        let dark = path.replace("-light.png", "-dark.png");
        if dark == path || !self.root.join(&dark).is_file() {
            return Event::InlineHtml(shown(&path, "").into());
        }
        let both = shown(&path, " class=\"in-light\"") + &shown(&dark, " class=\"in-dark\"");
        self.note_image(written, &dark, true);
        Event::InlineHtml(both.into())
    }

    fn note_image(&mut self, written: &str, path: &str, image: bool) {
        let link =
            Link { written: written.to_owned(), path: path.to_owned(), anchor: None, page: false, image };
        self.page.links.push(link);
    }
}

/// The book's own style has the colours of drawings; a style in the page would not be allowed to count.
fn drawing_in_page(drawing: &str, alt: &str) -> String {
    let start = drawing.find("<svg").unwrap_or(0);
    let drawing = &drawing[start..];
    let plain = match (drawing.find("<style>"), drawing.find("</style>")) {
        (Some(from), Some(to)) => format!("{}{}", &drawing[..from], &drawing[to + "</style>".len()..]),
        _ => drawing.to_owned(),
    };
    // A blank line would end the HTML that it stands in.
    let lines: Vec<&str> = plain.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("<span class=\"drawing\" role=\"img\" aria-label=\"{}\">{}</span>", escape(alt), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_file_of_code_the_beginning_is_shown_and_how_much_is_left() {
        let line = "é = 1\n";
        let page = source("a.txt", &line.repeat(LONGEST_SOURCE));
        assert!(page.html.len() < 3 * LONGEST_SOURCE, "{}", page.html.len());
        let shown = LONGEST_SOURCE / line.len();
        assert!(page.html.contains(&format!("… and {} more lines", LONGEST_SOURCE - shown)));
        assert!(!source("a.txt", line).html.contains("more lines"));
    }
}
