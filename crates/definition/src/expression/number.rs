//! Numbers by value: integers exact to 64 bits, signed or not, and floats. Nothing here rounds an integer.

use std::cmp::Ordering;

use serde_json::{Number, Value};

#[derive(Clone, Copy, Debug)]
pub(super) enum Numeric {
    /// Between `i64::MIN` and `u64::MAX`.
    Integer(i128),
    Float(f64),
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoResult {
    #[error("a division by zero")]
    DivisionByZero,
    #[error("an integer of more than 64 bits")]
    TooLarge,
    #[error("not a finite number")]
    NotFinite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }
}

impl From<&Number> for Numeric {
    fn from(number: &Number) -> Numeric {
        if let Some(signed) = number.as_i64() {
            Numeric::Integer(signed.into())
        } else if let Some(unsigned) = number.as_u64() {
            Numeric::Integer(unsigned.into())
        } else {
            Numeric::Float(number.as_f64().unwrap_or(f64::NAN))
        }
    }
}

impl Numeric {
    pub(super) fn apply(self, operator: Operator, right: Numeric) -> Result<Numeric, NoResult> {
        use Numeric::Integer;
        if let (Integer(left), Integer(right)) = (self, right) {
            let integer = match operator {
                Operator::Add => left.checked_add(right),
                Operator::Subtract => left.checked_sub(right),
                Operator::Multiply => left.checked_mul(right),
                Operator::Divide | Operator::Remainder if right == 0 => return Err(NoResult::DivisionByZero),
                Operator::Remainder => left.checked_rem(right),
                Operator::Divide if left % right == 0 => left.checked_div(right),
                Operator::Divide => return Numeric::finite(left as f64 / right as f64),
            };
            return integer.ok_or(NoResult::TooLarge).and_then(Numeric::integer);
        }
        let (left, right) = (self.as_f64(), right.as_f64());
        match operator {
            Operator::Add => Numeric::finite(left + right),
            Operator::Subtract => Numeric::finite(left - right),
            Operator::Multiply => Numeric::finite(left * right),
            Operator::Divide | Operator::Remainder if right == 0.0 => Err(NoResult::DivisionByZero),
            Operator::Divide => Numeric::finite(left / right),
            Operator::Remainder => Numeric::finite(left % right),
        }
    }

    pub(super) fn negate(self) -> Result<Numeric, NoResult> {
        match self {
            Numeric::Integer(integer) => Numeric::integer(-integer),
            Numeric::Float(float) => Ok(Numeric::Float(-float)),
        }
    }

    pub(super) fn abs(self) -> Numeric {
        match self {
            Numeric::Integer(integer) => Numeric::Integer(integer.abs()),
            Numeric::Float(float) => Numeric::Float(float.abs()),
        }
    }

    /// Rounds in the given way to a whole number, which is an integer if it fits into one.
    pub(super) fn whole(self, round: fn(f64) -> f64) -> Numeric {
        match self {
            Numeric::Integer(_) => self,
            Numeric::Float(float) => {
                let rounded = round(float);
                let integer = Numeric::integer(rounded as i128)
                    .ok()
                    .filter(|i| i.compare(Numeric::Float(rounded)).is_eq());
                integer.unwrap_or(Numeric::Float(rounded))
            }
        }
    }

    /// To so many decimal places, halves away from zero.
    pub(super) fn round(self, places: u8) -> Numeric {
        match self {
            Numeric::Float(float) if places > 0 => {
                let scale = 10_f64.powi(places.into());
                let rounded = (float * scale).round() / scale;
                Numeric::Float(if rounded.is_finite() { rounded } else { float })
            }
            Numeric::Integer(_) | Numeric::Float(_) => self.whole(f64::round),
        }
    }

    pub(super) fn is_zero(self) -> bool {
        match self {
            Numeric::Integer(integer) => integer == 0,
            Numeric::Float(float) => float == 0.0,
        }
    }

    /// As a place in a list, if it is whole.
    pub(super) fn as_index(self) -> Option<i64> {
        match self.whole(f64::trunc) {
            Numeric::Integer(index) if self.compare(Numeric::Integer(index)).is_eq() => {
                i64::try_from(index).ok()
            }
            Numeric::Integer(_) | Numeric::Float(_) => None,
        }
    }

    /// By value, exactly.
    pub(super) fn compare(self, other: Numeric) -> Ordering {
        match (self, other) {
            (Numeric::Integer(left), Numeric::Integer(right)) => left.cmp(&right),
            // `total_cmp` would tell -0.0 from 0.0; JSON has no NaN.
            (Numeric::Float(left), Numeric::Float(right)) => {
                left.partial_cmp(&right).unwrap_or(Ordering::Less)
            }
            (Numeric::Integer(left), Numeric::Float(right)) => compare_with_float(left, right),
            (Numeric::Float(left), Numeric::Integer(right)) => compare_with_float(right, left).reverse(),
        }
    }

    pub(super) fn into_value(self) -> Value {
        let number = match self {
            Numeric::Integer(integer) => Number::from_i128(integer),
            Numeric::Float(float) => Number::from_f64(float),
        };
        number.map_or(Value::Null, Value::Number)
    }

    fn integer(integer: i128) -> Result<Numeric, NoResult> {
        let fits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&integer);
        if fits { Ok(Numeric::Integer(integer)) } else { Err(NoResult::TooLarge) }
    }

    fn finite(float: f64) -> Result<Numeric, NoResult> {
        if float.is_finite() { Ok(Numeric::Float(float)) } else { Err(NoResult::NotFinite) }
    }

    fn as_f64(self) -> f64 {
        match self {
            Numeric::Integer(integer) => integer as f64,
            Numeric::Float(float) => float,
        }
    }
}

/// The float is cut to an integer, never the integer made a float: that would round it. A float beyond `i128` is cut
/// to its end, which is beyond every integer here.
fn compare_with_float(integer: i128, float: f64) -> Ordering {
    let whole = float.trunc();
    integer.cmp(&(whole as i128)).then_with(|| whole.partial_cmp(&float).unwrap_or(Ordering::Less))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(text: &str) -> Numeric {
        Numeric::from(&text.parse::<Number>().unwrap())
    }

    #[test]
    fn integers_and_floats_compare_by_value_and_exactly() {
        use Ordering::{Equal, Greater, Less};
        for (left, right, expected) in [
            ("1", "1.0", Equal),
            ("0", "-0.0", Equal),
            ("9007199254740993", "9007199254740992.0", Greater),
            ("9007199254740993", "9007199254740994.0", Less),
            ("18446744073709551615", "18446744073709551616.0", Less),
            ("-9223372036854775808", "-9223372036854775808.0", Equal),
            ("18446744073709551615", "-1", Greater),
            ("1", "1.5", Less),
            ("-1", "-1.5", Greater),
            ("5", "1e300", Less),
            ("5", "-1e300", Greater),
        ] {
            assert_eq!(numeric(left).compare(numeric(right)), expected, "{left} {right}");
            assert_eq!(numeric(right).compare(numeric(left)), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn integers_stay_exact_and_refuse_to_leave_64_bits() {
        let apply = |left: &str, operator, right: &str| {
            numeric(left).apply(operator, numeric(right)).map(|result| result.into_value().to_string())
        };
        assert_eq!(apply("9007199254740993", Operator::Add, "2").as_deref(), Ok("9007199254740995"));
        assert_eq!(apply("18446744073709551615", Operator::Add, "1"), Err(NoResult::TooLarge));
        assert_eq!(apply("-9223372036854775808", Operator::Subtract, "1"), Err(NoResult::TooLarge));
        assert_eq!(
            apply("18446744073709551615", Operator::Multiply, "18446744073709551615"),
            Err(NoResult::TooLarge)
        );
        assert_eq!(apply("6", Operator::Divide, "2").as_deref(), Ok("3"));
        assert_eq!(apply("7", Operator::Divide, "2").as_deref(), Ok("3.5"));
        assert_eq!(apply("-7", Operator::Remainder, "2").as_deref(), Ok("-1"));
        assert_eq!(apply("1", Operator::Remainder, "0"), Err(NoResult::DivisionByZero));
        assert_eq!(apply("1", Operator::Divide, "0.0"), Err(NoResult::DivisionByZero));
        assert_eq!(apply("1e308", Operator::Multiply, "10"), Err(NoResult::NotFinite));
        assert_eq!(numeric("18446744073709551615").negate().unwrap_err(), NoResult::TooLarge);
    }

    #[test]
    fn a_whole_number_is_an_integer_where_it_fits() {
        let shown = |numeric: Numeric| numeric.into_value().to_string();
        assert_eq!(shown(numeric("2.5").round(0)), "3");
        assert_eq!(shown(numeric("-2.5").round(0)), "-3");
        assert_eq!(shown(numeric("2.345").round(2)), "2.35");
        assert_eq!(shown(numeric("-2.5").whole(f64::floor)), "-3");
        assert_eq!(shown(numeric("1e300").whole(f64::ceil)), "1e+300");
        assert_eq!(shown(numeric("1e300").round(15)), "1e+300");
        assert_eq!(numeric("2.0").as_index(), Some(2));
        assert_eq!(numeric("2.5").as_index(), None);
    }
}
