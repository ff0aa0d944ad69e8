//! Whose a model is, where it is served, and what it costs. From the server's settings, never from a definition.

use std::collections::BTreeMap;

use serde::Deserialize;
use url::Url;

use super::failure::{Class, Failure};
use super::price::Price;
use crate::secrets::Secret;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// By the name under which models refer to them.
    pub providers: BTreeMap<String, Provider>,
    /// Models by the name that definitions use.
    pub models: BTreeMap<String, Model>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    pub protocol: Protocol,
    /// Of the protocol's owner if absent.
    pub base_url: Option<String>,
    pub key: Option<Secret>,
    /// Models whose names begin like this are served here, in so far as no table names them.
    pub prefixes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    OpenaiResponses,
    OpenaiChat,
    /// Chat completions as other servers speak it.
    OpenaiCompatible,
    Anthropic,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Model {
    pub provider: String,
    /// As the provider calls it; as definitions do, if absent.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub price: Option<Price>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("model `{model}` is of provider `{provider}`, which the settings do not have")]
    UnknownProvider { model: String, provider: String },
    #[error("provider `{provider}` needs a base URL: its protocol has no home")]
    NoBaseUrl { provider: String },
    #[error("the base URL `{url}` of provider `{provider}` is not an `http` or `https` URL")]
    BadBaseUrl { provider: String, url: String },
}

/// No provider of the settings serves it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no provider is known for model `{model}`; known are {known}")]
pub struct UnknownModel {
    pub model: String,
    /// The names and the beginnings of names that are known.
    pub known: String,
}

/// Where a call goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served<'s> {
    pub(super) provider: &'s Provider,
    pub(super) name: &'s str,
}

impl Provider {
    pub fn openai(key: Option<Secret>) -> Provider {
        let prefixes = ["gpt-", "o1", "o3", "o4", "chatgpt-"].map(str::to_owned).to_vec();
        Provider { protocol: Protocol::OpenaiResponses, base_url: None, key, prefixes }
    }

    pub fn anthropic(key: Option<Secret>) -> Provider {
        Provider { protocol: Protocol::Anthropic, base_url: None, key, prefixes: vec!["claude-".to_owned()] }
    }

    pub fn compatible(base_url: impl Into<String>, key: Option<Secret>) -> Provider {
        let base_url = Some(base_url.into());
        Provider { protocol: Protocol::OpenaiCompatible, base_url, key, prefixes: Vec::new() }
    }
}

impl Protocol {
    fn home(self) -> Option<&'static str> {
        match self {
            Protocol::OpenaiResponses | Protocol::OpenaiChat => Some("https://api.openai.com/v1"),
            Protocol::Anthropic => Some("https://api.anthropic.com/v1"),
            Protocol::OpenaiCompatible => None,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Protocol::OpenaiResponses => "responses",
            Protocol::OpenaiChat | Protocol::OpenaiCompatible => "chat/completions",
            Protocol::Anthropic => "messages",
        }
    }
}

impl Settings {
    /// What is wrong with them, before the first call finds it out.
    pub fn check(&self) -> Result<(), SettingsError> {
        for (name, provider) in &self.providers {
            match provider.base_url.as_deref() {
                None if provider.protocol.home().is_none() => {
                    return Err(SettingsError::NoBaseUrl { provider: name.clone() });
                }
                None => {}
                Some(url) => {
                    let read = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
                    if read.is_none() {
                        return Err(SettingsError::BadBaseUrl {
                            provider: name.clone(),
                            url: url.to_owned(),
                        });
                    }
                }
            }
        }
        for (name, model) in &self.models {
            if !self.providers.contains_key(&model.provider) {
                let provider = model.provider.clone();
                return Err(SettingsError::UnknownProvider { model: name.clone(), provider });
            }
        }
        Ok(())
    }

    /// By the table; else `provider/model`; else by the longest beginning that a provider claims.
    fn find<'s>(&'s self, model: &'s str) -> Result<Served<'s>, UnknownModel> {
        if let Some(entry) = self.models.get(model)
            && let Some(provider) = self.providers.get(&entry.provider)
        {
            return Ok(Served { provider, name: entry.name.as_deref().unwrap_or(model) });
        }
        if let Some((provider, name)) = model.split_once('/')
            && let Some(provider) = self.providers.get(provider)
        {
            return Ok(Served { provider, name });
        }
        let claims = self.providers.values().filter_map(|provider| {
            let longest = provider
                .prefixes
                .iter()
                .filter(|begin| model.starts_with(begin.as_str()))
                .map(String::len)
                .max();
            longest.map(|length| (length, provider))
        });
        match claims.max_by_key(|(length, _)| *length) {
            Some((_, provider)) => Ok(Served { provider, name: model }),
            None => Err(self.unknown(model)),
        }
    }

    pub(super) fn model<'s>(&'s self, model: &'s str) -> Result<Served<'s>, Failure> {
        self.find(model).map_err(|unknown| Failure::new(Class::UnknownModel, unknown.to_string()))
    }

    /// Whether a provider serves it; asked before a definition is accepted.
    pub fn knows(&self, model: &str) -> Result<(), UnknownModel> {
        self.find(model).map(|_| ())
    }

    /// `None` when the price is not known: never nothing.
    pub fn price(&self, model: &str) -> Option<Price> {
        self.models.get(model)?.price
    }

    fn unknown(&self, model: &str) -> UnknownModel {
        let names = self.models.keys().map(|name| format!("`{name}`"));
        let owned = self.providers.keys().map(|name| format!("`{name}/…`"));
        let begun = self
            .providers
            .values()
            .flat_map(|provider| &provider.prefixes)
            .map(|begin| format!("`{begin}…`"));
        let known: Vec<String> = names.chain(begun).chain(owned).collect();
        let known = if known.is_empty() {
            "none: the settings name no provider".to_owned()
        } else {
            known.join(", ")
        };
        UnknownModel { model: model.to_owned(), known }
    }
}

impl Served<'_> {
    pub(super) fn url(&self) -> String {
        let protocol = self.provider.protocol;
        let base =
            self.provider.base_url.as_deref().or(protocol.home()).unwrap_or_default().trim_end_matches('/');
        // People write this base with and without its version.
        let version = if protocol == Protocol::Anthropic && !base.ends_with("/v1") { "/v1" } else { "" };
        format!("{base}{version}/{}", protocol.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let mut settings = Settings::default();
        settings.providers.insert("openai".to_owned(), Provider::openai(None));
        settings.providers.insert("anthropic".to_owned(), Provider::anthropic(None));
        settings
            .providers
            .insert("local".to_owned(), Provider::compatible("http://127.0.0.1:11434/v1/", None));
        let fast =
            Model { provider: "anthropic".to_owned(), name: Some("claude-small-1".to_owned()), price: None };
        settings.models.insert("fast".to_owned(), fast);
        settings
    }

    #[test]
    fn a_model_is_found_by_table_by_provider_and_by_how_it_begins() {
        let settings = settings();
        let found = |model: &str| {
            let served = settings.find(model).unwrap();
            (served.url(), served.name.to_owned())
        };
        let anthropic = "https://api.anthropic.com/v1/messages".to_owned();
        assert_eq!(found("fast"), (anthropic.clone(), "claude-small-1".to_owned()));
        assert_eq!(found("claude-big-9"), (anthropic, "claude-big-9".to_owned()));
        assert_eq!(found("gpt-9"), ("https://api.openai.com/v1/responses".to_owned(), "gpt-9".to_owned()));
        let local = "http://127.0.0.1:11434/v1/chat/completions".to_owned();
        assert_eq!(found("local/org/model:8b"), (local, "org/model:8b".to_owned()));
    }

    #[test]
    fn an_unknown_model_is_an_error_that_names_what_is_known() {
        let error = settings().knows("gtp-4").unwrap_err().to_string();
        assert!(error.contains("`gtp-4`") && error.contains("`fast`"), "{error}");
        assert!(error.contains("`claude-…`") && error.contains("`local/…`"), "{error}");
        assert!(Settings::default().knows("x").unwrap_err().known.contains("no provider"));
    }

    #[test]
    fn wrong_settings_are_named() {
        let mut settings = settings();
        assert_eq!(settings.check(), Ok(()));
        settings.models.insert("m".to_owned(), Model { provider: "nobody".to_owned(), ..Model::default() });
        assert!(settings.check().unwrap_err().to_string().contains("`nobody`"));
        settings.providers.insert("local".to_owned(), Provider::compatible("file:///x", None));
        assert!(settings.check().unwrap_err().to_string().contains("`file:///x`"));
    }
}
