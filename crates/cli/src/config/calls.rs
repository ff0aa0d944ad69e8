//! What the server may call, and with what. Keys are never settings: they are secrets, of the environment or of a file.

use std::path::Path;

use abide_engine::signing::Keys;
use abide_engine::{CallSettings, Model, Price, Protocol, Provider, Rule, SIGNING_KEY, Secret};
use abide_store::Workspace;

use super::read::{BadConfig, Config};
use super::secrets::{Given, own_names};

const PROVIDER: &str = "a provider; it would look like `local=openai_compatible@http://127.0.0.1:11434/v1`";
const MODEL: &str = "a model; it would look like `fast=openai/gpt-5-mini@250000:2000000`";
const HANDLER: &str = "a handler's URL; it would look like `charge-card=https://example.com/tasks`";

impl Config {
    /// `workspaces` are those that there are: secrets belong to one of them.
    pub(crate) fn calls(
        &self,
        variables: &[(String, String)],
        workspaces: &[Workspace],
    ) -> Result<CallSettings, BadConfig> {
        let secrets = self.secrets(variables)?;
        let mut settings = CallSettings::default();
        let rules: Result<Vec<Rule>, BadConfig> = self
            .list("allow_address")
            .iter()
            .map(|rule| rule.parse().map_err(|error| self.bad("allow_address", rule, format!("{error}"))))
            .collect();
        settings.allow(rules?);
        self.providers(&mut settings, &secrets, variables)?;
        for given in self.list("model") {
            let (name, model) = model(&given).ok_or_else(|| self.wrong("model", &given, MODEL))?;
            settings.model(&name, model);
        }
        settings.models.check().map_err(|error| self.bad("model", self.text("model"), error.to_string()))?;
        for given in self.list("handler_url") {
            let named =
                given.split_once('=').filter(|(name, url)| !name.is_empty() && url.starts_with("http"));
            let (name, url) = named.ok_or_else(|| self.wrong("handler_url", &given, HANDLER))?;
            settings.handler(name, url);
        }
        settings.signing = signing(&secrets)?;
        if !settings.handlers.is_empty() && settings.signing.is_none() {
            return Err(BadConfig::NoSigningKey);
        }
        settings.secrets = secrets.for_workflows(workspaces)?;
        Ok(settings)
    }

    pub(crate) fn secrets(&self, variables: &[(String, String)]) -> Result<Given, BadConfig> {
        let file = Some(self.text("secrets_file")).filter(|file| !file.is_empty());
        let providers = self.list("provider");
        let named = providers.iter().filter_map(|given| given.split_once('=')).map(|(name, _)| name);
        let own = own_names(["openai", "anthropic"].into_iter().chain(named).map(key_name));
        Ok(Given::read(variables, file.map(Path::new), &own)?)
    }

    /// Those that are named, and those of which the environment has the usual key.
    fn providers(
        &self,
        settings: &mut CallSettings,
        secrets: &Given,
        variables: &[(String, String)],
    ) -> Result<(), BadConfig> {
        let key = |provider: &str| {
            let name = key_name(provider);
            let usual =
                || variables.iter().find(|(known, _)| *known == name).map(|(_, key)| Secret::new(key));
            secrets.own(&name).cloned().or_else(usual)
        };
        for (name, provider) in
            [("openai", Provider::openai as fn(_) -> _), ("anthropic", Provider::anthropic)]
        {
            if let Some(key) = key(name) {
                settings.provider(name, provider(Some(key)));
            }
        }
        for given in self.list("provider") {
            let wrong = || self.wrong("provider", &given, PROVIDER);
            let (name, rest) = given.split_once('=').ok_or_else(wrong)?;
            let (protocol, url) = match rest.split_once('@') {
                Some((protocol, url)) => (protocol, Some(url.to_owned())),
                None => (rest, None),
            };
            let protocol = protocol_of(protocol).filter(|_| !name.is_empty()).ok_or_else(wrong)?;
            let prefixes = settings.models.providers.get(name).map(|known| known.prefixes.clone());
            let prefixes = prefixes.unwrap_or_else(|| usual_prefixes(name));
            settings.provider(name, Provider { protocol, base_url: url, key: key(name), prefixes });
        }
        Ok(())
    }
}

/// `my-proxy` → `MY_PROXY_API_KEY`.
fn key_name(provider: &str) -> String {
    let capital = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    provider.chars().map(capital).chain("_API_KEY".chars()).collect()
}

fn usual_prefixes(name: &str) -> Vec<String> {
    match name {
        "openai" => Provider::openai(None).prefixes,
        "anthropic" => Provider::anthropic(None).prefixes,
        _ => Vec::new(),
    }
}

fn protocol_of(name: &str) -> Option<Protocol> {
    match name {
        "openai_responses" => Some(Protocol::OpenaiResponses),
        "openai_chat" => Some(Protocol::OpenaiChat),
        "openai_compatible" => Some(Protocol::OpenaiCompatible),
        "anthropic" => Some(Protocol::Anthropic),
        _ => None,
    }
}

/// `NAME=PROVIDER/MODEL[@INPUT:OUTPUT[:CACHED]]`
fn model(given: &str) -> Option<(String, Model)> {
    let (name, rest) = given.split_once('=')?;
    let (served, price) = match rest.rsplit_once('@') {
        Some((served, price)) => (served, Some(self::price(price)?)),
        None => (rest, None),
    };
    let (provider, model) = served.split_once('/')?;
    let whole = [name, provider, model].iter().all(|part| !part.is_empty());
    let model = Model { provider: provider.to_owned(), name: Some(model.to_owned()), price };
    whole.then(|| (name.to_owned(), model))
}

fn price(given: &str) -> Option<Price> {
    let parts: Option<Vec<u64>> = given.split(':').map(|part| part.replace('_', "").parse().ok()).collect();
    match parts?.as_slice() {
        [input, output] => Some(Price { input: *input, cached_input: None, output: *output }),
        [input, output, cached] => {
            Some(Price { input: *input, cached_input: Some(*cached), output: *output })
        }
        _ => None,
    }
}

/// While keys change there are several, with spaces between them.
fn signing(secrets: &Given) -> Result<Option<Keys>, BadConfig> {
    let Some(keys) = secrets.own(SIGNING_KEY) else { return Ok(None) };
    Keys::new(keys.expose().split_whitespace()).map(Some).map_err(BadConfig::SigningKey)
}

#[cfg(test)]
mod tests {
    use super::super::known::Flags;
    use super::*;

    fn calls(variables: &[(&str, &str)]) -> Result<CallSettings, BadConfig> {
        let all: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let find = |name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        Config::read(&Flags::default(), find)?.calls(&all, &[])
    }

    #[test]
    fn providers_models_and_prices_are_read() {
        let settings = calls(&[
            ("ABIDE_PROVIDER", "local=openai_compatible@http://127.0.0.1:1/v1"),
            ("ABIDE_MODEL", "fast=local/llama:8b@3_000_000:15000000:300000, slow=anthropic/claude-x"),
            ("ABIDE_SECRET_LOCAL_API_KEY", "k-1"),
            ("ANTHROPIC_API_KEY", "k-2"),
        ])
        .unwrap();
        let local = &settings.models.providers["local"];
        assert_eq!(local.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        assert_eq!(local.key, Some(Secret::new("k-1")));
        assert_eq!(settings.models.providers["anthropic"].key, Some(Secret::new("k-2")));
        assert!(settings.models.knows("claude-small").is_ok() && settings.models.knows("gpt-5").is_err());
        let fast = &settings.models.models["fast"];
        assert_eq!(
            (fast.name.as_deref(), fast.price.unwrap().cached_input),
            (Some("llama:8b"), Some(300_000))
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_what_would_be_right() {
        for (name, text, says) in [
            ("ABIDE_PROVIDER", "local=telnet", "openai_compatible@http"),
            ("ABIDE_PROVIDER", "local=openai_compatible", "needs a base URL"),
            ("ABIDE_MODEL", "fast", "fast=openai/"),
            ("ABIDE_MODEL", "fast=nobody/x", "`nobody`"),
            ("ABIDE_ALLOW_ADDRESS", "10.0.0.0/99", "10.0.0.0/99"),
            ("ABIDE_HANDLER_URL", "x", "charge-card=https"),
            ("ABIDE_HANDLER_URL", "x=https://example.com", "ABIDE_SECRET_SIGNING_KEY"),
            ("ABIDE_SECRET_SIGNING_KEY", "short", "SIGNING_KEY"),
            ("ABIDE_SECRETS_FILE", "/nowhere/at/all", "/nowhere/at/all"),
            ("ABIDE_SECRET_STRIPE", "sk", "ABIDE_SECRET_HOSTS_STRIPE"),
        ] {
            let error = calls(&[(name, text)]).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }

    #[test]
    fn keys_to_sign_with_may_change() {
        let both = format!("whsec_{0} whsec_{0}", "A".repeat(44));
        assert!(calls(&[("ABIDE_SECRET_SIGNING_KEY", &both)]).unwrap().signing.is_some());
    }
}
