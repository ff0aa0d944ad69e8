//! `/v2/topics`: URL groups. A message to one goes to each of its endpoints.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, decoded, ok};
use crate::Gateway;
use crate::message::is_url;
use crate::registry::{Endpoint, Group};

/// How many endpoints a URL group may have.
const ENDPOINTS: usize = 100;

pub(super) async fn answer(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    let (name, act) = rest.split_once('/').unwrap_or((rest, ""));
    let name = decoded(name);
    match (method, name.as_str(), act) {
        ("GET", "", "") => {
            let groups = gateway.registered::<Group>().await?;
            ok(groups.iter().map(|(name, group)| shown(name, group)).collect())
        }
        ("GET", _, "") => {
            let group = gateway.registered_as::<Group>(&name).await?.ok_or_else(|| unknown(&name))?;
            ok(shown(&name, &group))
        }
        ("DELETE", _, "") => {
            let remove =
                |all: &mut BTreeMap<String, Group>| all.remove(&name).map(drop).ok_or_else(|| unknown(&name));
            gateway.change_registered(remove).await?;
            ok(json!({}))
        }
        ("POST", _, "endpoints") => add(gateway, &name, endpoints(asked)?).await,
        ("DELETE", _, "endpoints") => remove(gateway, &name, &endpoints(asked)?).await,
        (_, _, _) => Err(asked.not_served()),
    }
}

fn unknown(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is no URL group {name}"))
}

fn endpoints(asked: &GuestRequest) -> Result<Vec<Endpoint>, Problem> {
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    serde_json::from_value(body["endpoints"].clone()).map_err(|_| {
        Problem::bad("`endpoints` is a list of objects with a `url`, and a `name` if they have one")
    })
}

fn is_same(one: &Endpoint, other: &Endpoint) -> bool {
    one.url == other.url || (one.name.is_some() && one.name == other.name)
}

async fn add(gateway: &Gateway, name: &str, endpoints: Vec<Endpoint>) -> Answer {
    if let Some(bad) = endpoints.iter().find(|endpoint| !is_url(&endpoint.url)) {
        return Err(Problem::bad(format!("`{}` is not a URL", bad.url)));
    }
    for endpoint in &endpoints {
        gateway.check(&endpoint.url)?;
    }
    let now = gateway.engine.now().as_millisecond();
    let add = |all: &mut BTreeMap<String, Group>| {
        let group =
            all.entry(name.to_owned()).or_insert_with(|| Group { created_at: now, ..Group::default() });
        group.updated_at = now;
        for endpoint in &endpoints {
            group.endpoints.retain(|known| !is_same(known, endpoint));
            group.endpoints.push(endpoint.clone());
        }
        match group.endpoints.len() <= ENDPOINTS {
            true => Ok(()),
            false => Err(Problem::bad(format!("a URL group has at most {ENDPOINTS} endpoints (ENDPOINTS)"))),
        }
    };
    gateway.change_registered(add).await?;
    ok(json!({}))
}

/// Removes endpoints, named by their URLs or their names. A group without any is gone.
async fn remove(gateway: &Gateway, name: &str, endpoints: &[Endpoint]) -> Answer {
    let now = gateway.engine.now().as_millisecond();
    let remove = |all: &mut BTreeMap<String, Group>| {
        let group = all.get_mut(name).ok_or_else(|| unknown(name))?;
        group.updated_at = now;
        group.endpoints.retain(|known| !endpoints.iter().any(|endpoint| is_same(known, endpoint)));
        if group.endpoints.is_empty() {
            all.remove(name);
        }
        Ok(())
    };
    gateway.change_registered(remove).await?;
    ok(json!({}))
}

fn shown(name: &str, group: &Group) -> Value {
    json!({
        "createdAt": group.created_at,
        "updatedAt": group.updated_at,
        "name": name,
        "endpoints": group.endpoints,
    })
}
