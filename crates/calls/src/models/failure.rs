//! Why a model gave no answer, and what may help.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::Usage;
use crate::http;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub class: Class,
    pub message: String,
    /// The HTTP status, if one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the provider wants to be left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What was used up all the same, as far as the provider said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Class {
    /// What we sent is wrong.
    BadRequest,
    /// More than this model takes at once.
    TooLong,
    /// Neither the settings nor the provider know the model.
    UnknownModel,
    /// The key is missing, wrong, or may not do this.
    Auth,
    /// The account is empty.
    QuotaUsedUp,
    RateLimited,
    /// The provider has trouble of its own.
    Overloaded,
    /// An answer that the protocol does not know.
    Malformed,
    Cut,
    TimedOut,
    /// No connection: the request has not left.
    Unreachable,
}

/// What may help after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Help {
    /// The same call at another time.
    pub another_attempt: bool,
    /// The same call to another model.
    pub another_model: bool,
}

impl Class {
    pub fn code(self) -> &'static str {
        match self {
            Class::BadRequest => "LLM_BAD_REQUEST",
            Class::TooLong => "LLM_TOO_LONG",
            Class::UnknownModel => "LLM_UNKNOWN_MODEL",
            Class::Auth => "LLM_AUTH",
            Class::QuotaUsedUp => "LLM_QUOTA_USED_UP",
            Class::RateLimited => "LLM_RATE_LIMITED",
            Class::Overloaded => "LLM_OVERLOADED",
            Class::Malformed => "LLM_MALFORMED_ANSWER",
            Class::Cut => "LLM_CUT",
            Class::TimedOut => "LLM_TIMED_OUT",
            Class::Unreachable => "LLM_UNREACHABLE",
        }
    }

    pub fn help(self) -> Help {
        let (another_attempt, another_model) = match self {
            Class::BadRequest => (false, false),
            Class::TooLong | Class::UnknownModel | Class::Auth | Class::QuotaUsedUp => (false, true),
            Class::RateLimited
            | Class::Overloaded
            | Class::Malformed
            | Class::Cut
            | Class::TimedOut
            | Class::Unreachable => (true, true),
        };
        Help { another_attempt, another_model }
    }
}

impl Failure {
    pub fn new(class: Class, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), status: None, retry_after_ms: None, usage: None }
    }

    pub(super) fn malformed(what: impl fmt::Display) -> Failure {
        Failure::new(Class::Malformed, format!("the answer cannot be read: {what}"))
    }

    pub(super) fn with_usage(mut self, usage: Option<Usage>) -> Failure {
        self.usage = self.usage.or(usage);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<http::Error> for Failure {
    fn from(error: http::Error) -> Failure {
        let class = match &error {
            http::Error::UnknownHost { .. }
            | http::Error::NotConnected { .. }
            | http::Error::ConnectTimedOut { .. }
            | http::Error::Tls { .. } => Class::Unreachable,
            http::Error::TimedOut { .. } => Class::TimedOut,
            http::Error::Cut { .. } => Class::Cut,
            http::Error::NotHttp { .. } | http::Error::ResponseTooLarge { .. } => Class::Malformed,
            http::Error::BadUrl { .. }
            | http::Error::SchemeRefused { .. }
            | http::Error::AddressRefused { .. }
            | http::Error::SecretRefused { .. }
            | http::Error::TooManyRedirects { .. }
            | http::Error::BadRedirect { .. } => Class::BadRequest,
        };
        Failure::new(class, error.to_string())
    }
}
