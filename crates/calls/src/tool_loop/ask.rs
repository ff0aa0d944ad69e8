//! One call to a model that is to be made, and the entry that becomes of it.

use jiff::{SignedDuration, Timestamp};

use super::journal::Entry;
use crate::models::{Answer, Call, Class, Failure, Message, Settings, Usage};

/// How long a rate limit is respected when the provider does not say.
const RATE_LIMIT: SignedDuration = SignedDuration::from_secs(10);
/// Less than this is not worth a call.
const LEAST_OUTPUT_TOKENS: u64 = 16;
/// A cautious guess: text has rather more bytes for a token.
const BYTES_PER_TOKEN: usize = 3;
const TOKENS_PER_MESSAGE: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The name of the entry.
    pub entry: String,
    pub call: Call,
    /// What the call may cost at most, where there is a budget.
    pub most_micros: u64,
    pub(super) attempt: u32,
    pub(super) visit: u32,
    pub(super) shortened: bool,
}

impl Ask {
    pub fn answered(&self, answer: Answer, settings: &Settings) -> Entry {
        let cost_micros = self.cost(answer.usage, settings);
        let (model, visit, shortened) = (self.call.model.clone(), self.visit, self.shortened);
        Entry::Answered { model, visit, answer, cost_micros, shortened }
    }

    pub fn failed(&self, failure: Failure, settings: &Settings, now: Timestamp) -> Entry {
        let retry_at = (failure.class == Class::RateLimited).then(|| {
            let told = failure.retry_after_ms.and_then(|ms| i64::try_from(ms).ok());
            let wait = told.map_or(RATE_LIMIT, SignedDuration::from_millis);
            now.saturating_add(wait).unwrap_or(now)
        });
        let cost_micros = failure.usage.and_then(|usage| self.cost(usage, settings));
        Entry::CallFailed {
            model: self.call.model.clone(),
            attempt: self.attempt,
            failure,
            retry_at,
            cost_micros,
        }
    }

    fn cost(&self, usage: Usage, settings: &Settings) -> Option<u64> {
        settings.price(&self.call.model).map(|price| price.cost(usage))
    }
}

/// What a budget leaves of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    /// Fewer tokens than the step allows.
    pub(super) shortened: bool,
    pub(super) most_micros: u64,
}

/// Cuts the call down to what may still be spent, or says why it cannot be made.
pub(super) fn fit(call: &mut Call, left_micros: u64, settings: &Settings) -> Result<Fit, String> {
    let Some(price) = settings.price(&call.model) else {
        return Err(format!("there is a budget, and the settings have no price for `{}`", call.model));
    };
    let shortened = shorten(call, left_micros, settings)?;
    let output = call.max_tokens.map_or(0, u64::from);
    let most_micros = price.cost(Usage { input: input_tokens(call), cached_input: 0, output });
    Ok(Fit { shortened, most_micros })
}

fn shorten(call: &mut Call, left_micros: u64, settings: &Settings) -> Result<bool, String> {
    let Some(price) = settings.price(&call.model) else {
        return Err(format!("there is a budget, and the settings have no price for `{}`", call.model));
    };
    let input = input_tokens(call);
    let affordable = price.affordable_output(left_micros, input).unwrap_or(0);
    let wanted = call.max_tokens.map(u64::from);
    if affordable < LEAST_OUTPUT_TOKENS.min(wanted.unwrap_or(u64::MAX)) {
        return Err(format!(
            "the next call to `{}` takes about {input} tokens, and {left_micros} micro-units of the budget are left",
            call.model
        ));
    }
    if wanted.is_some_and(|wanted| wanted <= affordable) {
        return Ok(false);
    }
    // A limit beyond what models take would be refused.
    let affordable = u32::try_from(affordable).unwrap_or(u32::MAX);
    if wanted.is_none() && affordable >= crate::models::MAX_TOKENS {
        call.max_tokens = Some(crate::models::MAX_TOKENS);
        return Ok(false);
    }
    call.max_tokens = Some(affordable);
    Ok(true)
}

fn input_tokens(call: &Call) -> u64 {
    let said: usize = call.messages.iter().map(bytes).sum();
    let tools: usize = call
        .tools
        .iter()
        .map(|tool| {
            let parameters = tool.parameters.as_ref().map_or(0, |schema| schema.to_string().len());
            tool.name.len() + tool.description.as_ref().map_or(0, String::len) + parameters
        })
        .sum();
    let format = match &call.format {
        crate::models::Format::Text => 0,
        crate::models::Format::Json => 50,
        crate::models::Format::Schema(schema) => schema.to_string().len() + 100,
    };
    let bytes = said + tools + format + call.system.as_ref().map_or(0, String::len);
    (bytes.div_ceil(BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (call.messages.len() + call.tools.len() + 1))
        as u64
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) => text.len(),
        Message::Assistant { text, tool_calls } => {
            let calls = tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len());
            text.len() + calls.sum::<usize>()
        }
        Message::ToolResult { call_id, content, .. } => call_id.len() + content.len(),
    }
}
