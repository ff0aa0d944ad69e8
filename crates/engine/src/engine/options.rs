//! How an engine is opened: its options, and the file of its store.

use std::path::Path;

use abide_calls::http::Rule;
use abide_calls::models::{Model, Provider};
use abide_calls::signing::Keys;
use abide_calls::vault::Vault;
use abide_core::id::WorkspaceId;
use abide_core::time::Millis;
use abide_store::sqlite::Sqlite;

use super::Engine;
use crate::clock::SettableClock;
use crate::error::Error;
use crate::executor::CallSettings;
use crate::limits::Limits;
use crate::retention::Retention;

/// The options that an engine is opened with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The longest that a wait may take; `None`: [`limits::WAIT`](abide_core::limits::WAIT).
    pub max_wait: Option<Millis>,
    /// A clock that the caller sets, for tests; `None`: the machine's.
    pub clock: Option<SettableClock>,
    /// How long what has ended is kept.
    pub retention: Retention,
    /// How many requests may wait for a round; more are refused as [`Error::Overloaded`].
    pub queue: Queue,
    /// The settings of outgoing calls: addresses, secrets, models, handlers at URLs.
    pub calls: CallSettings,
    /// The master key, under which the store's own secrets are sealed.
    pub vault: Vault,
    /// Whether the engine only reads: no timer fires, nobody is called, and whatever would change something is
    /// refused as [`Error::Paused`]. For a copy whose original is at work.
    pub paused: bool,
    /// How many runs may be open or descend from one.
    pub limits: Limits,
}

impl Options {
    /// Adds a secret that `http` steps of the default workspace name as `{{ secret.NAME }}`, and the hosts it may be
    /// sent to: `api.example.com`, `*.example.com`, `http://10.0.0.5:8080`, or `*` for any.
    pub fn secret(
        mut self,
        name: &str,
        value: &str,
        hosts: &[&str],
    ) -> Result<Options, abide_calls::secrets::Error> {
        self.calls.secrets.insert(WorkspaceId::DEFAULT, name, value.to_owned(), hosts.iter().copied())?;
        Ok(self)
    }

    /// Adds a provider of models under this name.
    pub fn provider(mut self, name: &str, provider: Provider) -> Options {
        self.calls.provider(name, provider);
        self
    }

    /// Adds a model by the name that definitions use, with its price.
    pub fn model(mut self, name: &str, model: Model) -> Options {
        self.calls.model(name, model);
        self
    }

    /// Sets the private addresses that `http` steps and handlers' URLs may reach.
    pub fn allow(mut self, rules: impl IntoIterator<Item = Rule>) -> Options {
        self.calls.allow(rules);
        self
    }

    /// Adds a handler that is called at a URL.
    pub fn handler_url(mut self, name: &str, url: &str) -> Options {
        self.calls.handler(name, url);
        self
    }

    /// Sets the keys that outgoing calls are signed with.
    pub fn signing(mut self, keys: Keys) -> Options {
        self.calls.signing = Some(keys);
        self
    }

    /// Sets a clock that the caller moves, for tests.
    pub fn clock(mut self, clock: SettableClock) -> Options {
        self.clock = Some(clock);
        self
    }

    /// Opens the store in a file, and goes on with whatever was under way in it.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Engine, Error> {
        Engine::open_with(Box::new(Sqlite::open(path.as_ref())?), self).await
    }
}

/// How many requests may wait for a round. When there are more, they are refused instead of piling up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(pub usize);

impl Default for Queue {
    fn default() -> Queue {
        Queue(65_536)
    }
}
