//! Tokens into a tree, by the grammar of the language. What can go on without end is a loop. What can nest without
//! end counts its depth: parentheses, brackets, arguments, prefixes, and the right side of every operator.

use serde_json::Value;

use super::ParseError;
use super::function::Function;
use super::lexer::{Lexeme, Symbol, Token, lex};
use super::name::excerpt;
use super::number::Numeric;
use super::operator::{Join, Level};
use super::syntax::{Comparison, Filter, Kind, Node, Path, Segment};
use crate::limits::{EXPRESSION_BYTES, EXPRESSION_DEPTH};

pub(super) fn parse(source: &str) -> Result<Node, ParseError> {
    if source.len() > EXPRESSION_BYTES {
        let message = format!("the expression has {} bytes; the limit is {EXPRESSION_BYTES}", source.len());
        return Err(ParseError::new(source, 0, message));
    }
    let mut parser = Parser { source, lexemes: lex(source)?, at: 0, depth: 0 };
    if parser.peek().token == Token::End {
        return Err(ParseError::new(source, 0, "the expression is empty"));
    }
    let root = parser.conditional().map_err(|error| *error)?;
    if parser.peek().token == Token::End {
        Ok(root)
    } else {
        Err(*parser.unexpected("an operator or the end"))
    }
}

/// The error is boxed because every level of the parser has room for one on the stack.
type Parsed<T = Node> = Result<T, Box<ParseError>>;

struct Parser<'s> {
    source: &'s str,
    lexemes: Vec<Lexeme<'s>>,
    at: usize,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn conditional(&mut self) -> Parsed {
        let start = self.peek().start;
        let mut arms = Vec::new();
        loop {
            let condition = self.binary(Level::Or)?;
            if !self.take(Symbol::Question) {
                return Ok(if arms.is_empty() { condition } else { otherwise(start, arms, condition) });
            }
            let then = self.nested(Parser::conditional)?;
            self.expect(Symbol::Colon, "`:` and the value for when it is false")?;
            arms.push((condition, then));
        }
    }

    /// Operands joined by operators of at least this level.
    fn binary(&mut self, least: Level) -> Parsed {
        let mut left = self.operand(least)?;
        // The level of the chain that `left` is; none while it is an operand, maybe in parentheses.
        let mut chained = None;
        while let Some((join, width)) = self.next_join().filter(|(join, _)| join.level() >= least) {
            let level = join.level();
            if level == Level::Comparison && chained == Some(level) {
                let message = "comparisons do not chain; join them with `and`, or use parentheses";
                return Err(self.error(self.peek().start, message));
            }
            self.at += width;
            let right = self.nested(|parser| parser.binary(level.above()))?;
            left = if chained == Some(level) { join.extend(left, right) } else { join.join(left, right) };
            chained = Some(level);
        }
        Ok(left)
    }

    fn operand(&mut self, least: Level) -> Parsed {
        if !self.sees(Symbol::Not) {
            return self.filtered();
        }
        let start = self.peek().start;
        if least > Level::Not {
            return Err(self.error(start, "`not` of a part needs parentheses: `(not a)`"));
        }
        self.at += 1;
        let inner = self.nested(|parser| parser.binary(Level::Not))?;
        let end = inner.end;
        Ok(Node::new(Kind::Not(inner), start, end))
    }

    fn filtered(&mut self) -> Parsed {
        let first = self.unary()?;
        if !self.sees(Symbol::Pipe) {
            return Ok(first);
        }
        let start = first.start;
        let mut filters = Vec::new();
        while self.take(Symbol::Pipe) {
            filters.push(self.filter()?);
        }
        Ok(Node::new(Kind::Filtered(first, filters), start, self.previous_end()))
    }

    fn unary(&mut self) -> Parsed {
        if !self.sees(Symbol::Minus) {
            return self.postfix();
        }
        let start = self.peek().start;
        self.at += 1;
        let inner = self.nested(Parser::unary)?;
        let end = inner.end;
        Ok(match inner.number().map(Numeric::negate) {
            Some(Ok(negated)) => Node::new(Kind::Literal(negated.into_value()), start, end),
            Some(Err(_)) | None => Node::new(Kind::Negate(inner), start, end),
        })
    }

    fn postfix(&mut self) -> Parsed {
        let node = self.primary()?;
        if self.sees(Symbol::Dot) && node.number().is_some() {
            let message = "a number has no members; a name with a hyphen before a digit is written in brackets: \
                           `steps[\"step-2\"]`";
            return Err(self.error(node.start, message));
        }
        let mut segments = Vec::new();
        while let Some(segment) = self.segment()? {
            segments.push(segment);
        }
        if self.sees(Symbol::OpenParenthesis) {
            return Err(self.error(node.start, "only functions can be called, by their bare name"));
        }
        Ok(if segments.is_empty() { node } else { member(node, segments, self.previous_end()) })
    }

    fn segment(&mut self) -> Parsed<Option<Segment>> {
        if self.take(Symbol::Dot) {
            return match self.take_place() {
                Some(place) => Ok(Some(Segment::Index(place))),
                None => self.member_name().map(Segment::Name).map(Some),
            };
        }
        if self.take(Symbol::OpenBracket) {
            let node = self.nested(Parser::conditional)?;
            self.expect(Symbol::CloseBracket, "`]`")?;
            return Ok(Some(Segment::from(node)));
        }
        Ok(None)
    }

    fn primary(&mut self) -> Parsed {
        let start = self.peek().start;
        if self.take(Symbol::OpenParenthesis) {
            let inner = self.nested(Parser::conditional)?;
            self.expect(Symbol::CloseParenthesis, "`)`")?;
            return Ok(inner);
        }
        if self.take(Symbol::OpenBracket) {
            let items = self.items(Symbol::CloseBracket, "`]`")?;
            return Ok(Node::new(list(items), start, self.previous_end()));
        }
        let Some(word) = self.take_word() else { return self.literal() };
        if self.take(Symbol::OpenParenthesis) {
            let function = self.function(word, start)?;
            let arguments = self.items(Symbol::CloseParenthesis, "`)`")?;
            self.check_arity(function, arguments.len(), start)?;
            return Ok(Node::new(Kind::Call(function, arguments), start, self.previous_end()));
        }
        Ok(Node::new(named(word), start, self.previous_end()))
    }

    fn literal(&mut self) -> Parsed {
        let Lexeme { ref token, start, end } = *self.peek();
        let value = match token {
            Token::Number(number) => Value::Number(number.clone()),
            Token::Text(text) => Value::String(text.clone()),
            Token::Symbol(Symbol::Dot) if self.source[..start].ends_with('?') => {
                return Err(
                    self.error(start, "`?.` is written `.`: a member of something undefined is undefined")
                );
            }
            Token::Word(_) | Token::Symbol(_) | Token::End => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        Ok(Node::new(Kind::Literal(value), start, end))
    }

    /// What follows a `|`.
    fn filter(&mut self) -> Parsed<Filter> {
        let start = self.peek().start;
        let word = self.take_word().ok_or_else(|| self.unexpected("a function's name"))?;
        let function = self.function(word, start)?;
        let mut arguments = Vec::new();
        if self.take(Symbol::OpenParenthesis) {
            arguments = self.items(Symbol::CloseParenthesis, "`)`")?;
        }
        self.check_arity(function, arguments.len() + 1, start)?;
        if self.sees(Symbol::Dot) || self.sees(Symbol::OpenBracket) {
            let message = "the members of a filter's result need parentheses: `(x | first).name`";
            return Err(self.error(self.peek().start, message));
        }
        Ok(Filter { function, arguments, end: self.previous_end() })
    }

    fn member_name(&mut self) -> Parsed<String> {
        self.take_word().map(str::to_owned).ok_or_else(|| self.unexpected("a name"))
    }

    /// A place in a list after a dot: `items.0` is `items[0]`.
    fn take_place(&mut self) -> Option<i64> {
        let Token::Number(number) = &self.peek().token else { return None };
        let place = number.as_i64()?;
        self.at += 1;
        Some(place)
    }

    /// Items up to the closing symbol.
    fn items(&mut self, close: Symbol, written: &str) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(self.nested(Parser::conditional)?);
            if self.take(close) {
                return Ok(items);
            }
            if !self.take(Symbol::Comma) {
                return Err(self.unexpected(&format!("`,` or {written}")));
            }
        }
    }

    fn function(&self, word: &str, start: usize) -> Parsed<Function> {
        Function::by_name(word).ok_or_else(|| {
            let known = Function::ALL.map(Function::name);
            let hint = match crate::problem::nearest(word, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            let word = excerpt(word);
            self.error(start, format!("there is no function `{word}`; {hint}"))
        })
    }

    fn check_arity(&self, function: Function, given: usize, start: usize) -> Parsed<()> {
        let arity = function.arity();
        if arity.contains(&given) {
            return Ok(());
        }
        let name = function.name();
        let needed = match (arity.start(), arity.end()) {
            (1, 1) => "1 argument".to_owned(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, &usize::MAX) => format!("at least {least}"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        Err(self
            .error(start, format!("`{name}` takes {needed}, counting what is piped into it, not {given}")))
    }

    /// The operator that comes next, and of how many tokens it is.
    fn next_join(&self) -> Option<(Join, usize)> {
        let Token::Symbol(symbol) = self.peek().token else { return None };
        if symbol == Symbol::Not {
            let after = &self.lexemes.get(self.at + 1)?.token;
            return (*after == Token::Symbol(Symbol::In)).then_some((Join::Compare(Comparison::NotIn), 2));
        }
        Some((Join::written(symbol)?, 1))
    }

    /// One level deeper.
    fn nested(&mut self, inner: impl FnOnce(&mut Parser<'s>) -> Parsed) -> Parsed {
        if self.depth >= EXPRESSION_DEPTH {
            let message = format!("the expression is nested deeper than the limit of {EXPRESSION_DEPTH}");
            return Err(self.error(self.peek().start, message));
        }
        self.depth += 1;
        let parsed = inner(self);
        self.depth -= 1;
        parsed
    }

    /// The last lexeme is the end, and is never taken.
    fn peek(&self) -> &Lexeme<'s> {
        &self.lexemes[self.at]
    }

    fn previous_end(&self) -> usize {
        self.lexemes[self.at.saturating_sub(1)].end
    }

    fn sees(&self, symbol: Symbol) -> bool {
        self.peek().token == Token::Symbol(symbol)
    }

    fn take(&mut self, symbol: Symbol) -> bool {
        let seen = self.sees(symbol);
        self.at += usize::from(seen);
        seen
    }

    fn take_word(&mut self) -> Option<&'s str> {
        let Token::Word(word) = self.peek().token else { return None };
        self.at += 1;
        Some(word)
    }

    fn expect(&mut self, symbol: Symbol, expected: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &str) -> Box<ParseError> {
        let Lexeme { start, end, .. } = *self.peek();
        let found = match &self.source[start..end] {
            "" => "the end".to_owned(),
            found => format!("`{}`", excerpt(found)),
        };
        self.error(start, format!("expected {expected}, found {found}"))
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Box<ParseError> {
        Box::new(ParseError::new(self.source, offset, message))
    }
}

impl Node {
    /// The number it is, if it is a literal.
    fn number(&self) -> Option<Numeric> {
        if let Kind::Literal(Value::Number(number)) = &*self.kind { Some(number.into()) } else { None }
    }
}

impl From<Node> for Segment {
    fn from(mut node: Node) -> Segment {
        if let Some(index) = node.number().and_then(Numeric::as_index) {
            return Segment::Index(index);
        }
        if let Kind::Literal(Value::String(name)) = &mut *node.kind {
            return Segment::Name(std::mem::take(name));
        }
        Segment::Computed(node)
    }
}

/// A word in the place of a value: a constant, or the first name of a path.
fn named(word: &str) -> Kind {
    match word {
        "true" => Kind::Literal(Value::Bool(true)),
        "false" => Kind::Literal(Value::Bool(false)),
        "null" => Kind::Literal(Value::Null),
        name => Kind::Path(Path { names: vec![name.to_owned()], rest: Vec::new() }),
    }
}

fn member(mut node: Node, segments: Vec<Segment>, end: usize) -> Node {
    let Kind::Path(path) = &mut *node.kind else {
        let start = node.start;
        return Node::new(Kind::Member(node, segments), start, end);
    };
    for segment in segments {
        match segment {
            Segment::Name(name) if path.rest.is_empty() => path.names.push(name),
            Segment::Name(_) | Segment::Index(_) | Segment::Computed(_) => path.rest.push(segment),
        }
    }
    Node { end, ..node }
}

fn otherwise(start: usize, arms: Vec<(Node, Node)>, otherwise: Node) -> Node {
    let end = otherwise.end;
    Node::new(Kind::Conditional { arms, otherwise }, start, end)
}

/// A list of literals is a literal itself, so that it is made once.
fn list(items: Vec<Node>) -> Kind {
    let mut literals = Vec::with_capacity(items.len());
    for item in &items {
        let Kind::Literal(value) = &*item.kind else { return Kind::List(items) };
        literals.push(value.clone());
    }
    Kind::Literal(Value::Array(literals))
}
