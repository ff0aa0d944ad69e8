//! What a call costs, in whole millionths of the currency that the settings think in.

use serde::{Deserialize, Serialize};

use super::call::Usage;

/// Micro-units for a million tokens: `3_000_000` is three dollars for a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    pub input: u64,
    /// `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<u64>,
    pub output: u64,
}

const MILLION: u128 = 1_000_000;

impl Price {
    /// In micro-units, a part of one counted as one, so that many small calls never cost nothing.
    pub fn cost(self, usage: Usage) -> u64 {
        let cached = usage.cached_input.min(usage.input);
        let times = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = times(usage.input - cached, self.input)
            .saturating_add(times(cached, self.cached_input.unwrap_or(self.input)))
            .saturating_add(times(usage.output, self.output));
        u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// How many tokens may come out when this many go in and no more than `micros` may be spent; `None` if already
    /// what goes in costs more.
    pub fn affordable_output(self, micros: u64, input: u64) -> Option<u64> {
        let left = micros.checked_sub(self.cost(Usage { input, ..Usage::default() }))?;
        if self.output == 0 {
            return Some(u64::MAX);
        }
        Some(u64::try_from(u128::from(left) * MILLION / u128::from(self.output)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { input: 3_000_000, cached_input: Some(300_000), output: 15_000_000 };

    #[test]
    fn a_call_costs_what_went_in_and_what_came_out() {
        let usage = Usage { input: 1000, cached_input: 400, output: 100 };
        assert_eq!(PRICE.cost(usage), 600 * 3 + 120 + 1500);
        assert_eq!(PRICE.cost(Usage::default()), 0);
    }

    #[test]
    fn a_part_of_a_unit_is_a_unit() {
        let cheap = Price { input: 1, cached_input: None, output: 1 };
        assert_eq!(cheap.cost(Usage { input: 1, cached_input: 0, output: 0 }), 1);
        assert_eq!(
            cheap.cost(Usage { input: u64::MAX, cached_input: u64::MAX, output: u64::MAX }),
            36_893_488_147_420
        );
    }

    #[test]
    fn what_is_left_buys_so_many_tokens() {
        assert_eq!(PRICE.affordable_output(3000 + 1500, 1000), Some(100));
        assert_eq!(PRICE.affordable_output(3000, 1000), Some(0));
        assert_eq!(PRICE.affordable_output(2999, 1000), None);
    }
}
