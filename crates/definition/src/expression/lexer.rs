//! Source into tokens.

use serde_json::Number;

use super::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'s> {
    Number(Number),
    Text(String),
    Word(&'s str),
    Symbol(Symbol),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Comma,
    Dot,
    Question,
    Colon,
    Or,
    And,
    Not,
    In,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Coalesce,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Pipe,
}

#[derive(Debug)]
pub(super) struct Lexeme<'s> {
    pub(super) token: Token<'s>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The longer ones first.
const SYMBOLS: [(&str, Symbol); 24] = [
    ("||", Symbol::Or),
    ("&&", Symbol::And),
    ("==", Symbol::Equal),
    ("!=", Symbol::NotEqual),
    ("<=", Symbol::LessOrEqual),
    (">=", Symbol::GreaterOrEqual),
    ("??", Symbol::Coalesce),
    ("(", Symbol::OpenParenthesis),
    (")", Symbol::CloseParenthesis),
    ("[", Symbol::OpenBracket),
    ("]", Symbol::CloseBracket),
    (",", Symbol::Comma),
    (".", Symbol::Dot),
    ("?", Symbol::Question),
    (":", Symbol::Colon),
    ("!", Symbol::Not),
    ("<", Symbol::Less),
    (">", Symbol::Greater),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("%", Symbol::Percent),
    ("|", Symbol::Pipe),
];

/// All tokens, the last of which is [`Token::End`].
pub(super) fn lex(source: &str) -> Result<Vec<Lexeme<'_>>, ParseError> {
    let mut lexer = Lexer { source, at: 0 };
    let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
    loop {
        lexer.skip_while(char::is_whitespace);
        let start = lexer.at;
        // After a dot every word is a name, also `in` and `not`, and digits are a place in a list: `items.0.1`.
        let after_dot = lexemes.last().is_some_and(|last| last.token == Token::Symbol(Symbol::Dot));
        let token = if after_dot { lexer.member()? } else { keyword(lexer.token()?) };
        let ended = token == Token::End;
        lexemes.push(Lexeme { token, start, end: lexer.at });
        if ended {
            return Ok(lexemes);
        }
    }
}

fn keyword(token: Token<'_>) -> Token<'_> {
    match token {
        Token::Word("or") => Token::Symbol(Symbol::Or),
        Token::Word("and") => Token::Symbol(Symbol::And),
        Token::Word("not") => Token::Symbol(Symbol::Not),
        Token::Word("in") => Token::Symbol(Symbol::In),
        Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Symbol(_) | Token::End => token,
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    fn token(&mut self) -> Result<Token<'s>, ParseError> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        if first.is_alphabetic() || first == '_' {
            return Ok(Token::Word(self.word()));
        }
        if first.is_ascii_digit() {
            return self.number().map(Token::Number);
        }
        if first == '"' || first == '\'' {
            return self.text(first).map(Token::Text);
        }
        let rest = self.rest();
        if rest.starts_with("===") || rest.starts_with("!==") {
            return Err(
                self.error(self.at, "`==` and `!=` are strict already: write two characters, not three")
            );
        }
        if let Some((written, symbol)) = SYMBOLS.iter().find(|(written, _)| rest.starts_with(written)) {
            self.at += written.len();
            return Ok(Token::Symbol(*symbol));
        }
        Err(self.error(
            self.at,
            match first {
                '=' => "`=` means nothing here; compare with `==`".to_owned(),
                '&' => "`&` means nothing here; write `and` or `&&`".to_owned(),
                '{' | '}' => format!(
                    "`{first}` means nothing here; an expression in a `match` or a condition has no braces"
                ),
                '`' => "a string is written in single or double quotes".to_owned(),
                other => format!("`{}` means nothing here", other.escape_debug()),
            },
        ))
    }

    fn member(&mut self) -> Result<Token<'s>, ParseError> {
        if self.peek().is_some_and(|first| first.is_ascii_digit()) {
            let start = self.at;
            self.skip_digits();
            return self.number_since(start).map(Token::Number);
        }
        self.token()
    }

    /// A hyphen belongs to a name only directly before a letter.
    fn word(&mut self) -> &'s str {
        let start = self.at;
        loop {
            self.skip_while(|c| c.is_alphanumeric() || c == '_');
            let mut ahead = self.rest().chars();
            if ahead.next() == Some('-') && ahead.next().is_some_and(char::is_alphabetic) {
                self.at += 1;
            } else {
                return &self.source[start..self.at];
            }
        }
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        let start = self.at;
        self.skip_digits();
        if self.rest().starts_with('.') && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.at += 1;
            self.skip_digits();
        }
        if self.rest().starts_with(['e', 'E']) {
            let exponent = self.rest()[1..].trim_start_matches(['+', '-']);
            let sign = self.rest().len() - 1 - exponent.len();
            if sign <= 1 && exponent.starts_with(|c: char| c.is_ascii_digit()) {
                self.at += 1 + sign;
                self.skip_digits();
            }
        }
        self.number_since(start)
    }

    fn number_since(&self, start: usize) -> Result<Number, ParseError> {
        let written = &self.source[start..self.at];
        if self.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return Err(self.error(start, "a name cannot begin with a digit, nor a number end with a letter"));
        }
        if written.bytes().all(|byte| byte.is_ascii_digit()) {
            let integer: Option<u64> = written.parse().ok();
            return integer
                .map(Number::from)
                .ok_or_else(|| self.error(start, "an integer of more than 64 bits"));
        }
        let float: Option<f64> = written.parse().ok();
        float.and_then(Number::from_f64).ok_or_else(|| self.error(start, "a number that is too large"))
    }

    fn text(&mut self, quote: char) -> Result<String, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '\\' => text.push(self.escape()?),
                c if c == quote => return Ok(text),
                c => text.push(c),
            }
        }
        Err(self.error(start, "a string that is not closed"))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, ParseError> {
        let start = self.at - 1;
        let unknown = "an unknown escape; known are \\n \\r \\t \\\\ \\\" \\' and \\uXXXX";
        match self.next() {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(c @ ('\\' | '"' | '\'')) => Ok(c),
            Some('u') => self.unicode_escape().ok_or_else(|| self.error(start, unknown)),
            Some(_) | None => Err(self.error(start, unknown)),
        }
    }

    /// What follows `\u`; a character beyond the first 65,536 is a pair of them, as in JSON.
    fn unicode_escape(&mut self) -> Option<char> {
        let mut units = vec![self.hexadecimal()?];
        if (0xD800..0xDC00).contains(&units[0]) {
            self.at += self.rest().starts_with("\\u").then_some(2)?;
            units.push(self.hexadecimal()?);
        }
        char::decode_utf16(units).next()?.ok()
    }

    fn hexadecimal(&mut self) -> Option<u16> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }

    fn skip_digits(&mut self) {
        self.skip_while(|c| c.is_ascii_digit());
    }

    fn skip_while(&mut self, belongs: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(belongs).len();
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError::new(self.source, offset, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Token<'_>> {
        let mut tokens: Vec<Token<'_>> =
            lex(source).unwrap().into_iter().map(|lexeme| lexeme.token).collect();
        assert_eq!(tokens.pop(), Some(Token::End));
        tokens
    }

    fn text(source: &str) -> String {
        match &tokens(source)[..] {
            [Token::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_hyphen_directly_before_a_letter_belongs_to_the_name() {
        use Token::{Symbol as S, Word};
        let one = Token::Number(1.into());
        assert_eq!(tokens("call-api"), [Word("call-api")]);
        assert_eq!(tokens("größe-über-alles"), [Word("größe-über-alles")]);
        assert_eq!(tokens("score-1"), [Word("score"), S(Symbol::Minus), one.clone()]);
        assert_eq!(tokens("a - b"), [Word("a"), S(Symbol::Minus), Word("b")]);
        assert_eq!(tokens("a- b"), [Word("a"), S(Symbol::Minus), Word("b")]);
        assert_eq!(tokens("a -b"), [Word("a"), S(Symbol::Minus), Word("b")]);
        assert_eq!(
            tokens("step-2-go"),
            [Word("step"), S(Symbol::Minus), Token::Number(2.into()), S(Symbol::Minus), Word("go")]
        );
        assert_eq!(tokens("1-a"), [one, S(Symbol::Minus), Word("a")]);
    }

    #[test]
    fn operator_words_are_names_after_a_dot() {
        assert_eq!(tokens("not"), [Token::Symbol(Symbol::Not)]);
        assert_eq!(tokens("a.not")[2], Token::Word("not"));
        assert_eq!(tokens("notes"), [Token::Word("notes")]);
    }

    #[test]
    fn strings_have_two_quotes_and_the_escapes_of_json() {
        assert_eq!(text(r#""it's""#), "it's");
        assert_eq!(text(r#"'say "hi"'"#), "say \"hi\"");
        assert_eq!(text(r#"'\n\t\\\'\"'"#), "\n\t\\'\"");
        assert_eq!(text(r"'\u00e9\ud83d\ude00'"), "é😀");
    }

    #[test]
    fn numbers_keep_their_kind() {
        assert_eq!(tokens("9007199254740993"), [Token::Number(9_007_199_254_740_993_u64.into())]);
        assert_eq!(tokens("1.50"), [Token::Number(Number::from_f64(1.5).unwrap())]);
        assert_eq!(tokens("2e3"), [Token::Number(Number::from_f64(2000.0).unwrap())]);
        assert_eq!(tokens("a[0].b").len(), 6);
    }

    #[test]
    fn what_is_no_token_says_where_and_what_would_be_one() {
        for (source, offset, hint) in [
            ("a = 1", 2, "`==`"),
            ("a === 1", 2, "two characters"),
            ("é & b", 3, "`and`"),
            ("1e999", 0, "too large"),
            ("99999999999999999999999", 0, "64 bits"),
            ("1abc", 0, "begin with a digit"),
            ("x == 'abc", 5, "not closed"),
            (r"'\x'", 1, "unknown escape"),
            (r"'\ud800'", 1, "unknown escape"),
            (r"'\u12'", 1, "unknown escape"),
            ("{% for %}", 0, "no braces"),
            ("a # b", 2, "means nothing"),
        ] {
            let error = lex(source).unwrap_err();
            assert_eq!(error.offset, offset, "{source}");
            assert!(error.message.contains(hint), "{source}: {}", error.message);
        }
    }
}
