//! What the protocols have in common: a request as JSON, an answer from JSON, an answer from events.

use serde_json::Value;

use super::call::{Answer, Call, Usage};
use super::failure::Failure;
use super::settings::Protocol;
use super::{anthropic, openai_chat, openai_responses};

/// Puts an answer together from the events of a stream.
pub(super) trait Accumulate: Send {
    /// The text that this event adds to the answer.
    fn take(&mut self, event: Value) -> Result<Option<String>, Failure>;

    /// What is known to be used up so far.
    fn usage(&self) -> Option<Usage>;

    /// `None` if the stream ended before the answer did.
    fn finish(self: Box<Self>) -> Result<Option<Answer>, Failure>;
}

impl Protocol {
    pub(super) fn request(self, call: &Call, name: &str, stream: bool) -> Value {
        match self {
            Protocol::OpenaiResponses => openai_responses::request(call, name, stream),
            Protocol::OpenaiChat => openai_chat::request(call, name, stream, "max_completion_tokens"),
            Protocol::OpenaiCompatible => openai_chat::request(call, name, stream, "max_tokens"),
            Protocol::Anthropic => anthropic::request(call, name, stream),
        }
    }

    pub(super) fn answer(self, response: Value) -> Result<Answer, Failure> {
        match self {
            Protocol::OpenaiResponses => openai_responses::answer(response),
            Protocol::OpenaiChat | Protocol::OpenaiCompatible => openai_chat::answer(response),
            Protocol::Anthropic => anthropic::answer(response),
        }
    }

    pub(super) fn accumulate(self) -> Box<dyn Accumulate> {
        match self {
            Protocol::OpenaiResponses => Box::<openai_responses::Stream>::default(),
            Protocol::OpenaiChat | Protocol::OpenaiCompatible => Box::<openai_chat::Stream>::default(),
            Protocol::Anthropic => Box::<anthropic::Stream>::default(),
        }
    }
}
