//! `Upstash-Retry-Delay`: an expression in milliseconds over `retried`, which is 0 before the first retry.

use abide_core::time::Millis;

/// The length of an expression, in bytes: it is evaluated in one pass.
const LONGEST: usize = 1_000;
/// How deep parentheses may be nested.
const DEEPEST: usize = 32;

/// The value of an expression; `None` if it is none, or gives no length of time.
pub(crate) fn evaluate(expression: &str, retried: u32) -> Option<Millis> {
    if expression.len() > LONGEST {
        return None;
    }
    let mut reader = Reader { rest: expression.trim(), retried: f64::from(retried), depth: 0 };
    let value = reader.sum()?;
    let is_length = reader.rest.is_empty() && value.is_finite() && value >= 0.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked, and it saturates")]
    is_length.then(|| Millis(value.ceil() as u64))
}

/// What is retried without an expression: `e^(2.5 n)` seconds, a day at most.
pub(crate) fn usual(retried: u32) -> Millis {
    let seconds = (2.5 * f64::from(retried + 1)).exp().min(86_400.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a day")]
    Millis((seconds * 1_000.0) as u64)
}

struct Reader<'e> {
    rest: &'e str,
    retried: f64,
    depth: usize,
}

impl<'e> Reader<'e> {
    fn takes(&mut self, sign: char) -> bool {
        let after = self.rest.strip_prefix(sign).map(str::trim_start);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            if self.takes('+') {
                value += self.product()?;
            } else if self.takes('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        loop {
            if self.takes('*') {
                value *= self.factor()?;
            } else if self.takes('/') {
                value /= self.factor()?;
            } else if self.takes('%') {
                value %= self.factor()?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = self.atom();
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Option<f64> {
        if self.takes('-') {
            return self.factor().map(|value| -value);
        }
        if self.takes('(') {
            let value = self.sum()?;
            return self.takes(')').then_some(value);
        }
        let word = self.word(|char| char.is_ascii_alphabetic());
        if !word.is_empty() {
            return self.named(word);
        }
        self.word(|char| char.is_ascii_digit() || char == '.').parse().ok()
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'e str {
        let end = self.rest.find(|char| !belongs(char)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn named(&mut self, name: &str) -> Option<f64> {
        if name == "retried" {
            return Some(self.retried);
        }
        if !self.takes('(') {
            return None;
        }
        let mut given = vec![self.sum()?];
        while self.takes(',') {
            given.push(self.sum()?);
        }
        if !self.takes(')') {
            return None;
        }
        match (name, given.as_slice()) {
            ("pow", [base, power]) => Some(base.powf(*power)),
            ("sqrt", [value]) => Some(value.sqrt()),
            ("abs", [value]) => Some(value.abs()),
            ("exp", [value]) => Some(value.exp()),
            ("floor", [value]) => Some(value.floor()),
            ("ceil", [value]) => Some(value.ceil()),
            ("round", [value]) => Some(value.round()),
            ("min", values) => values.iter().copied().reduce(f64::min),
            ("max", values) => values.iter().copied().reduce(f64::max),
            (_, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_over_retried_give_milliseconds() {
        let given = [
            ("1000", 0, 1_000),
            ("1000 * (1 + retried)", 2, 3_000),
            ("pow(2, retried) * 100", 3, 800),
            ("max(10, min(retried * 1000, 500))", 9, 500),
            ("exp(0) + sqrt(16) + abs(-3) + floor(1.9) + ceil(0.1) + round(1.5)", 0, 12),
            ("10 - 2 - 3", 0, 5),
        ];
        for (expression, retried, ms) in given {
            assert_eq!(evaluate(expression, retried), Some(Millis(ms)), "{expression}");
        }
    }

    #[test]
    fn what_is_no_length_is_refused() {
        for expression in ["", "1 +", "foo(1)", "retried.x", "0 - 1", "1 / 0", "(1", "1 2", &"(".repeat(100)]
        {
            assert_eq!(evaluate(expression, 0), None, "{expression}");
        }
    }

    #[test]
    fn without_an_expression_the_back_off_grows_up_to_a_day() {
        assert_eq!((usual(0), usual(20)), (Millis(12_182), Millis(86_400_000)));
    }
}
