//! Code with its comments, strings, keywords and numbers marked. A scanner of tokens, no parser: it may be wrong about a
//! corner of a language, and never about the text.

use crate::template::escape;

struct Language {
    comment: &'static str,
    quotes: &'static str,
    keywords: &'static [&'static str],
}

const TYPESCRIPT: Language = Language {
    comment: "//",
    quotes: "\"'`",
    keywords: &[
        "as",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "default",
        "else",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "from",
        "function",
        "if",
        "import",
        "in",
        "interface",
        "let",
        "new",
        "null",
        "of",
        "return",
        "throw",
        "true",
        "try",
        "type",
        "undefined",
        "void",
        "while",
    ],
};
const PYTHON: Language = Language {
    comment: "#",
    quotes: "\"'",
    keywords: &[
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "elif", "else",
        "except", "False", "finally", "for", "from", "if", "import", "in", "is", "lambda", "None", "not",
        "or", "pass", "raise", "return", "True", "try", "while", "with", "yield",
    ],
};
const RUST: Language = Language {
    comment: "//",
    quotes: "\"",
    keywords: &[
        "as", "async", "await", "const", "else", "enum", "false", "fn", "for", "if", "impl", "in", "let",
        "match", "mod", "move", "mut", "pub", "return", "self", "struct", "trait", "true", "type", "use",
        "where", "while",
    ],
};
const SHELL: Language = Language {
    comment: "#",
    quotes: "\"'",
    keywords: &[
        "case", "do", "done", "else", "esac", "export", "fi", "for", "function", "if", "then", "while",
    ],
};
const DATA: Language = Language { comment: "#", quotes: "\"'", keywords: &["false", "null", "true"] };
const SQL: Language = Language {
    comment: "--",
    quotes: "'",
    keywords: &[
        "alter", "create", "from", "grant", "insert", "order", "by", "select", "set", "table", "where",
    ],
};

fn language(name: &str) -> Option<&'static Language> {
    Some(match name {
        "ts" | "typescript" | "js" | "javascript" => &TYPESCRIPT,
        "py" | "python" => &PYTHON,
        "rs" | "rust" => &RUST,
        "sh" | "bash" => &SHELL,
        "yaml" | "yml" | "json" | "toml" => &DATA,
        "sql" => &SQL,
        _ => return None,
    })
}

/// The code as HTML.
pub(crate) fn highlighted(name: &str, code: &str) -> String {
    let Some(language) = language(name) else { return escape(code) };
    let (mut html, mut rest) = (String::new(), code);
    let mut before = '\n';
    while let Some(first) = rest.chars().next() {
        let (class, length) = token(language, rest, first, before);
        let (text, after) = rest.split_at(length);
        match class {
            Some(class) => html.push_str(&format!("<i class=\"{class}\">{}</i>", escape(text))),
            None => html.push_str(&escape(text)),
        }
        before = text.chars().last().unwrap_or(before);
        rest = after;
    }
    html
}

/// What the text begins with, and how long that is.
fn token(language: &Language, rest: &str, first: char, before: char) -> (Option<&'static str>, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if rest.starts_with(language.comment)
        && (before.is_whitespace() || language.comment == "//" && before != ':')
    {
        return (Some("c"), rest.find('\n').unwrap_or(rest.len()));
    }
    if language.quotes.contains(first) && !is_word(before) {
        return (Some("s"), string(rest, first));
    }
    if first.is_ascii_digit() && !is_word(before) {
        let end = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
        return (Some("n"), end);
    }
    if is_word(first) {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let known = language.keywords.contains(&&rest[..end]) && before != '.' && before != '-';
        return (known.then_some("k"), end);
    }
    (None, first.len_utf8())
}

/// Where a string ends: at its quote, or with the line where it has none.
fn string(rest: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    if rest.starts_with(&triple) {
        return rest[3..].find(&triple).map_or(rest.len(), |end| end + 6);
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            '\n' if quote != '`' => return at,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_marked_and_the_text_is_whole() {
        let html = highlighted("ts", "await ctx.sleep(\"rest\", 30); // a \"month\"\n");
        assert_eq!(
            html,
            "<i class=\"k\">await</i> ctx.sleep(<i class=\"s\">&quot;rest&quot;</i>, <i class=\"n\">30</i>); \
             <i class=\"c\">// a &quot;month&quot;</i>\n"
        );
        assert_eq!(highlighted("text", "a < b"), "a &lt; b");
    }

    #[test]
    fn an_address_is_no_comment_and_an_apostrophe_no_string() {
        assert!(!highlighted("ts", "x = https://a").contains("class=\"c\""));
        assert!(!highlighted("sh", "it's").contains("class=\"s\""));
    }
}
