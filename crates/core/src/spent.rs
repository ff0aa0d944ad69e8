//! Tokens and cost of calls to models, added up. Money is counted in whole millionths of one currency, everywhere.

use serde::{Deserialize, Serialize};

use crate::history::ModelCall;

/// The tokens and the cost of calls to models, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// The number of calls, failed ones included.
    pub calls: u64,
    /// All tokens that went into the calls.
    pub input_tokens: u64,
    /// The input tokens that the providers had cached, a part of all input tokens.
    pub cached_input_tokens: u64,
    /// The tokens that came out of the calls.
    pub output_tokens: u64,
    /// The cost in millionths of the price table's currency, as far as prices are known.
    pub cost_micros: u64,
    /// The number of calls that used tokens of a model without a price.
    pub unpriced_calls: u64,
}

impl Spent {
    /// Adds one call to a model.
    pub fn add(&mut self, call: &ModelCall) {
        let used = call.input_tokens > 0 || call.output_tokens > 0;
        self.merge(&Spent {
            calls: 1,
            input_tokens: call.input_tokens,
            cached_input_tokens: call.cached_input_tokens,
            output_tokens: call.output_tokens,
            cost_micros: call.cost_micros.unwrap_or_default(),
            unpriced_calls: u64::from(used && call.cost_micros.is_none()),
        });
    }

    /// Adds what others have used up.
    pub fn merge(&mut self, other: &Spent) {
        let Spent { calls, input_tokens, cached_input_tokens, output_tokens, cost_micros, unpriced_calls } =
            other;
        for (sum, more) in [
            (&mut self.calls, calls),
            (&mut self.input_tokens, input_tokens),
            (&mut self.cached_input_tokens, cached_input_tokens),
            (&mut self.output_tokens, output_tokens),
            (&mut self.cost_micros, cost_micros),
            (&mut self.unpriced_calls, unpriced_calls),
        ] {
            *sum = sum.saturating_add(*more);
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Spent::default()
    }
}
