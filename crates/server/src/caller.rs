//! Who asks, and what they may do. A request's key is looked up by its hash; on loopback, where none is needed, the
//! caller is whoever sits at this machine.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_core::id::{KeyId, WorkspaceId};
use abide_core::trace::Traceparent;
use abide_core::waitpoint::{Actor, BY_SCOPE};
use abide_engine::Asker;
use abide_engine::stored::{ApiKey, KeyHash, Scope};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::app::{App, Shared};
use crate::links;
use crate::problem::{Code, Problem};
use crate::proxy;
use crate::rate::Rates;
use crate::settings::Limits;
use crate::traces::InTrace;

/// Every secret of a key begins like this, so that it is recognised where it should not be.
pub(crate) const KEY_PREFIX: &str = "abk_";
/// How much of a secret is shown later, to tell keys apart.
const SHOWN_CHARS: usize = 12;
const SECRET_BYTES: usize = 32;
/// A key that was looked up is believed for this long. Revoking it in this process takes effect at once, on other nodes
/// after this time.
const BELIEVED: Duration = Duration::from_secs(1);
/// `lastUsedAt` is exact to this: each note costs a synced write.
const TOUCH_EVERY: Duration = Duration::from_secs(60);
/// What histories call those who are not keys. No key, and nobody a link is for, may pass for one of them.
const NOT_KEYS: [&str; 13] = [
    "dispatcher",
    "engine",
    "event",
    "handler",
    "host",
    "link",
    "local",
    "parent",
    "schedule",
    "server",
    "step",
    "timer",
    "worker",
];
/// Keys believed at a time.
const BELIEVED_KEYS: usize = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) workspace: WorkspaceId,
    /// What histories say: the key's name.
    pub(crate) actor: Actor,
    pub(crate) scopes: BTreeSet<Scope>,
    pub(crate) key: Option<KeyId>,
    /// The trace that the request is in.
    pub(crate) traceparent: Option<Traceparent>,
    /// By the cookie of a browser, which it sends along with whatever a page asks for.
    pub(crate) signed_in: bool,
}

impl Caller {
    /// As the engine is told.
    pub(crate) fn asker(&self) -> Asker {
        Asker { by: self.actor.clone(), traceparent: self.traceparent }
    }

    /// Whoever is at this machine, where no key is needed.
    pub(crate) fn local() -> Caller {
        let (workspace, actor) = (WorkspaceId::DEFAULT, Actor::new("local"));
        Caller { workspace, actor, scopes: Scope::ALL.into(), key: None, traceparent: None, signed_in: false }
    }

    /// Whether one of these is among the caller's scopes. An admin may do everything, and who may run or deploy may read.
    pub(crate) fn may(&self, any_of: &[Scope]) -> bool {
        let has = |scope: Scope| self.scopes.contains(&scope);
        let reads = has(Scope::Run) || has(Scope::Deploy);
        has(Scope::Admin) || any_of.iter().any(|scope| has(*scope) || (*scope == Scope::Read && reads))
    }

    /// Those that an approval's `approvers` may name.
    pub(crate) fn scopes_to_decide(&self) -> Vec<Arc<str>> {
        let scopes = [Scope::Approve, Scope::Admin].into_iter().filter(|scope| self.may(&[*scope]));
        scopes.map(|scope| scope.to_string().into()).collect()
    }

    pub(crate) fn need(&self, any_of: &[Scope]) -> Result<(), Problem> {
        if self.may(any_of) {
            return Ok(());
        }
        let names: Vec<String> = any_of.iter().map(|scope| format!("`{scope}`")).collect();
        let detail = format!("this needs a key with the scope {}", names.join(" or "));
        Err(Problem::new(Code::Forbidden, detail))
    }
}

impl Caller {
    /// Whether what concerns the whole server may be seen.
    pub(crate) fn sees_all(&self) -> bool {
        self.workspace == WorkspaceId::DEFAULT && self.may(&[Scope::Admin])
    }

    /// What concerns all workspaces is for admins of the default one.
    pub(crate) fn need_default_workspace(&self) -> Result<(), Problem> {
        if self.workspace == WorkspaceId::DEFAULT {
            return Ok(());
        }
        Err(Problem::new(Code::Forbidden, "only a key of the default workspace may do this"))
    }
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Caller, Problem> {
        // Set by the guard of every route that has a scope.
        let caller = parts.extensions.get::<Caller>().cloned();
        let mut caller =
            caller.ok_or_else(|| Problem::new(Code::Unauthenticated, "this needs an API key"))?;
        caller.traceparent = parts.extensions.get::<InTrace>().map(|InTrace(traceparent)| *traceparent);
        Ok(caller)
    }
}

/// The callers of late, and how much they may ask.
pub(crate) struct Callers {
    believed: Mutex<HashMap<KeyHash, Believed>>,
    rates: Rates<Who>,
    guesses: Rates<IpAddr>,
    /// Of all keys there are, as of when. Only looked at where somebody guesses too much.
    hashes: Mutex<Option<(Instant, Arc<HashSet<KeyHash>>)>>,
    /// Whose turn it is to look.
    looking: tokio::sync::Mutex<()>,
}

struct Believed {
    key: ApiKey,
    until: Instant,
    touch_at: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Who {
    Key(KeyId),
    Address(IpAddr),
}

impl Callers {
    pub(crate) fn new(limits: &Limits) -> Callers {
        Callers {
            believed: Mutex::default(),
            rates: Rates::new(limits.requests_per_second),
            guesses: Rates::new(limits.guesses_per_second),
            hashes: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        }
    }

    /// Takes one request of those the caller may send.
    pub(crate) fn take(&self, caller: Option<&Caller>, address: IpAddr) -> Result<(), Problem> {
        let who = caller.and_then(|caller| caller.key).map_or(Who::Address(address), Who::Key);
        self.rates.take(who, Instant::now()).map_err(too_many)
    }

    /// Another key is valid, or one no longer is.
    pub(crate) fn forget(&self) {
        self.believed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.hashes() = None;
    }

    fn hashes(&self) -> MutexGuard<'_, Option<(Instant, Arc<HashSet<KeyHash>>)>> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this was a valid key the last time it was shown, whoever guesses meanwhile.
    fn was_key(&self, hash: &KeyHash) -> bool {
        self.believed.lock().unwrap_or_else(PoisonError::into_inner).contains_key(hash)
    }

    fn believed(&self, hash: &KeyHash, now: Instant) -> Option<(ApiKey, bool)> {
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = believed.get_mut(hash).filter(|known| known.until > now)?;
        let touch = known.touch_at <= now;
        if touch {
            known.touch_at = now + TOUCH_EVERY;
        }
        Some((known.key.clone(), touch))
    }

    fn believe(&self, hash: KeyHash, key: ApiKey, now: Instant) {
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        if believed.len() >= BELIEVED_KEYS {
            believed.clear();
        }
        let touch_at = believed.get(&hash).map_or(now, |known| known.touch_at);
        believed.insert(hash, Believed { key, until: now + BELIEVED, touch_at });
    }
}

fn too_many(delay: Duration) -> Problem {
    Problem::new(Code::RateLimited, "too many requests; slow down").retry_after(delay)
}

/// Whether somebody may be called this.
pub(crate) fn check_actor(pointer: &'static str, name: &str) -> Result<(), Problem> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with(BY_SCOPE) {
        let detail = format!("{pointer}: `{BY_SCOPE}` is what stands before a scope; choose another name");
        return Err(Problem::malformed(pointer, detail));
    }
    if NOT_KEYS.contains(&lower.as_str()) {
        let detail =
            format!("{pointer}: `{name}` is what histories call a part of the server; choose another name");
        return Err(Problem::malformed(pointer, detail));
    }
    Ok(())
}

impl App {
    /// The caller that the request's key names, or the one at this machine; `None` where a key is needed and none
    /// was given.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> Result<Option<Caller>, Problem> {
        if let Some(secret) = given_key(headers)? {
            return self.caller_of(hash(secret), address).await.map(Some);
        }
        if let Some(hash) = self.session(headers) {
            match self.caller_of(hash, address).await {
                Ok(caller) => return Ok(Some(Caller { signed_in: true, ..caller })),
                // The key was revoked, or has expired: who had it is nobody in particular.
                Err(problem) if problem.code == Code::Unauthenticated => {}
                Err(problem) => return Err(problem),
            }
        }
        if self.settings.needs_keys() {
            return Ok(None);
        }
        // Whoever comes through a proxy is not at this machine, even if the proxy is.
        match proxy::sign(headers).filter(|_| !self.settings.allow_everyone) {
            Some(header) => {
                let detail = format!(
                    "the request came through a proxy (`{header}`), and without keys this server is only for this \
                     machine; start it with `--auth required` and give a key"
                );
                Err(Problem::new(Code::ProxyRefused, detail))
            }
            None => Ok(Some(Caller::local())),
        }
    }

    /// Who has the key with this hash.
    pub(crate) async fn caller_of(&self, hash: KeyHash, address: IpAddr) -> Result<Caller, Problem> {
        let now = Instant::now();
        if self.callers.believed(&hash, now).is_none() {
            self.look_up(hash, address, now).await?;
        }
        let Some((key, touch)) = self.callers.believed(&hash, now) else {
            return Err(Problem::new(Code::Unauthenticated, "the API key is not known"));
        };
        check_valid(&key, self.engine.now())?;
        if touch {
            let (engine, id) = (self.engine.clone(), key.id);
            // Nobody waits for it, and nothing is lost if it fails.
            tokio::spawn(async move { drop(engine.admin().touch_key(id).await) });
        }
        let ApiKey { id, workspace, name, scopes, .. } = key;
        Ok(Caller {
            workspace,
            actor: Actor::new(&name),
            scopes,
            key: Some(id),
            traceparent: None,
            signed_in: false,
        })
    }
}

impl App {
    /// Only guesses are counted: a key that is one is let in whatever else comes from its address.
    async fn look_up(&self, hash: KeyHash, address: IpAddr, now: Instant) -> Result<(), Problem> {
        let callers = &self.callers;
        let mut counted = false;
        if !callers.was_key(&hash) {
            match callers.guesses.take(address, now) {
                Ok(()) => counted = true,
                Err(delay) if !self.is_among_keys(&hash).await? => return Err(too_many(delay)),
                Err(_) => {}
            }
        }
        let found = self.engine.admin().key_by_hash(hash).await?;
        if let Some(key) = found {
            callers.believe(hash, key, now);
            if counted {
                callers.guesses.release(address);
            }
        }
        Ok(())
    }

    /// Looked up in memory: a flood of guesses costs the store one look in a while.
    async fn is_among_keys(&self, hash: &KeyHash) -> Result<bool, Problem> {
        let callers = &self.callers;
        let known = || {
            let known = callers.hashes().clone();
            known.filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, hashes)| hashes)
        };
        if let Some(known) = known() {
            return Ok(known.contains(hash));
        }
        let _turn = callers.looking.lock().await;
        if let Some(known) = known() {
            return Ok(known.contains(hash));
        }
        let at = Instant::now();
        let hashes = Arc::new(self.engine.admin().key_hashes().await?);
        *callers.hashes() = Some((at, Arc::clone(&hashes)));
        Ok(hashes.contains(hash))
    }
}

fn check_valid(key: &ApiKey, now: Timestamp) -> Result<(), Problem> {
    if key.revoked_at.is_some() {
        return Err(Problem::new(Code::Unauthenticated, "the API key was revoked"));
    }
    if key.expires_at.is_some_and(|at| now >= at) {
        return Err(Problem::new(Code::Unauthenticated, "the API key has expired"));
    }
    Ok(())
}

fn given_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let bad = |what: &str| Problem::new(Code::Unauthenticated, what);
    if let Some(value) = headers.get("x-api-key") {
        return value.to_str().map(|key| Some(key.trim())).map_err(|_| bad("the API key is not text"));
    }
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let value = value.to_str().map_err(|_| bad("the Authorization header is not text"))?;
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(key.trim())),
        Some(_) | None => Err(bad("the Authorization header must read `Bearer abk_…`")),
    }
}

pub(crate) fn hash(secret: &str) -> KeyHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// A secret that nobody else has, what is shown of it later, and what is stored.
pub(crate) struct NewSecret {
    pub(crate) secret: String,
    pub(crate) prefix: String,
    pub(crate) hash: KeyHash,
}

impl NewSecret {
    pub(crate) fn make() -> Result<NewSecret, Problem> {
        let mut bytes = [0; SECRET_BYTES];
        links::fill(&mut bytes)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = format!("{KEY_PREFIX}{digits}");
        let prefix = secret.chars().take(SHOWN_CHARS).collect();
        let hash = hash(&secret);
        Ok(NewSecret { secret, prefix, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(scopes: &[Scope]) -> Caller {
        Caller { scopes: scopes.iter().copied().collect(), ..Caller::local() }
    }

    #[test]
    fn an_admin_may_do_everything_and_who_may_run_or_deploy_may_read() {
        for scope in Scope::ALL {
            assert!(with(&[Scope::Admin]).may(&[scope]));
            assert_eq!(with(&[Scope::Read]).may(&[scope]), scope == Scope::Read);
            assert_eq!(with(&[Scope::Run]).may(&[scope]), matches!(scope, Scope::Run | Scope::Read));
            assert_eq!(with(&[Scope::Deploy]).may(&[scope]), matches!(scope, Scope::Deploy | Scope::Read));
            assert!(!with(&[]).may(&[scope]));
        }
    }

    #[test]
    fn a_key_is_taken_from_either_header() {
        let headers = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            headers
        };
        assert_eq!(given_key(&headers("authorization", "Bearer abk_1")).unwrap(), Some("abk_1"));
        assert_eq!(given_key(&headers("authorization", "bearer  abk_1 ")).unwrap(), Some("abk_1"));
        assert_eq!(given_key(&headers("x-api-key", "abk_1")).unwrap(), Some("abk_1"));
        assert_eq!(given_key(&HeaderMap::new()).unwrap(), None);
        assert!(given_key(&headers("authorization", "Basic abk_1")).is_err());
    }

    #[test]
    fn two_keys_are_never_the_same_and_only_a_hash_is_kept() {
        let (one, other) = (NewSecret::make().unwrap(), NewSecret::make().unwrap());
        assert_ne!(one.secret, other.secret);
        assert_eq!(one.hash, hash(&one.secret));
        assert!(one.secret.starts_with(&one.prefix) && one.secret.len() == 4 + 64);
    }
}
