//! Calls to language models: OpenAI by chat completions or by responses, Anthropic by messages, and every server that
//! speaks chat completions, by their own protocols.
//!
//! A call is written once, without a provider in mind; one file per protocol turns it into a request and the response
//! into an answer. Nothing here tries twice: a failure says what may help, and whoever called decides.

mod anthropic;
mod call;
mod exchange;
mod failure;
mod format;
mod openai_chat;
mod openai_responses;
mod price;
mod protocol;
mod settings;

use std::time::Duration;

pub use call::{Answer, Call, Format, Message, Stop, Tool, ToolCall, Usage};
pub use exchange::retry_after_ms;
pub use failure::{Class, Failure, Help};
pub use price::Price;
pub use settings::{Model, Protocol, Provider, Settings, SettingsError, UnknownModel};

use crate::http::{Client, Policy};

/// A call that says nothing else may take this long: models think.
pub const WHOLE: Duration = Duration::from_secs(600);
pub const ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// What the messages protocol insists on when a call does not say it.
pub const MAX_TOKENS: u32 = 4096;
/// A provider that asks for more patience than this is not believed.
pub const RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The models of the settings, ready to be called.
#[derive(Clone, Debug)]
pub struct Models {
    settings: Settings,
    client: Client,
}

impl Models {
    pub fn new(settings: Settings) -> Models {
        // Base URLs come from the settings, and redirects are not followed: there is nobody to protect from.
        Models { settings, client: Client::new(Policy::everything()) }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// One call, answered in one piece.
    pub async fn call(&self, call: &Call) -> Result<Answer, Failure> {
        exchange::whole(&self.client, self.settings.model(&call.model)?, call).await
    }

    /// One call; each piece of text is handed over as it comes.
    pub async fn stream(
        &self,
        call: &Call,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, Failure> {
        exchange::streamed(&self.client, self.settings.model(&call.model)?, call, on_text).await
    }
}
