//! `abide deploy --check`: which of the runs that wait would fit a new version, and which it would strand.

use abide_sdk::wire::{CheckedGroup, CheckedRuns};
use serde_json::json;

use super::{Api, borrowed};
use crate::check::Outcome;
use crate::client::{Error, Exit};
use crate::console::Console;

/// Runs that are looked at for one file; more are left out, and that is said.
const MOST: u64 = 100_000;

/// What all pages together came to.
#[derive(Default)]
struct Total {
    name: Option<String>,
    version: Option<String>,
    looked_at: u64,
    fit: u64,
    stranded: u64,
    unclear: u64,
    not_told: u64,
    next_cursor: Option<String>,
}

/// Looks at the waiting runs page by page. Fails if some would be stranded.
pub(super) async fn check_runs(
    api: &Api,
    console: &mut Console<'_>,
    outcome: &Outcome,
    from: Option<&str>,
) -> Result<(), Error> {
    let client = api.open()?;
    let (mut total, mut groups): (Total, Vec<CheckedGroup>) = Default::default();
    loop {
        let mut query: Vec<(&'static str, String)> = Vec::new();
        query.extend(from.map(|from| ("from", from.to_owned())));
        query.extend(total.next_cursor.take().map(|cursor| ("cursor", cursor)));
        let path = &["workflow-definitions", "check-runs"];
        let answer = client.post_yaml(path, &borrowed(&query), &outcome.text).await?;
        if api.json {
            console.raw(&answer.text)?;
        }
        let part: CheckedRuns = answer.read()?;
        if !part.valid {
            return Err(Error::Failed(format!("the server does not take it: {}", json!(part.problems))));
        }
        (total.name, total.version, total.next_cursor) = (part.name, part.version, part.next_cursor);
        total.looked_at += part.looked_at;
        total.fit += part.fit;
        total.stranded += part.stranded;
        total.unclear += part.unclear;
        total.not_told += part.not_told;
        part.groups.into_iter().for_each(|group| add(&mut groups, group));
        if total.next_cursor.is_none() || total.looked_at >= MOST {
            break;
        }
    }
    if !api.json {
        tell(console, &total, &groups)?;
    }
    if total.stranded > 0 { Err(Error::Said(Exit::Failed)) } else { Ok(()) }
}

/// Runs alike on several pages are told once.
fn add(groups: &mut Vec<CheckedGroup>, more: CheckedGroup) {
    let alike = groups.iter_mut().find(|group| {
        (&group.version, &group.waiting_at, &group.misfits)
            == (&more.version, &more.waiting_at, &more.misfits)
    });
    match alike {
        Some(group) => group.runs += more.runs,
        None => groups.push(more),
    }
}

fn tell(console: &mut Console<'_>, total: &Total, groups: &[CheckedGroup]) -> Result<(), Error> {
    let (name, version) = (total.name.as_deref().unwrap_or("?"), total.version.as_deref().unwrap_or("?"));
    let Total { looked_at, fit, stranded, .. } = total;
    console.line(&format!(
        "{name} {version}: of {looked_at} waiting runs {fit} fit, {stranded} would be stranded if they were moved"
    ))?;
    let (fitting, stranded): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.fits);
    for group in stranded.into_iter().chain(fitting) {
        let steps: Vec<String> = group.waiting_at.iter().map(|step| format!("`{step}`")).collect();
        let place =
            if steps.is_empty() { "for their start".to_owned() } else { format!("at {}", steps.join(", ")) };
        let verdict = if group.fits { "fit" } else { "stranded" };
        console.line(&format!(
            "  {:>8}  {} of version {} that wait {place}",
            verdict, group.runs, group.version
        ))?;
        for misfit in &group.misfits {
            let step = misfit.step.as_ref().map(|step| format!("`{step}`: ")).unwrap_or_default();
            console.line(&format!("            {step}{} [{}]", misfit.reason, misfit.code))?;
        }
        if !group.fits {
            console.line(&format!("            {}", group.examples.join(" ")))?;
        }
    }
    if total.unclear > 0 {
        console.note(&format!("{} runs have changed meanwhile, or cannot be read.", total.unclear))?;
    }
    if total.not_told > 0 {
        console.note(&format!("{} more runs are in groups that are not listed.", total.not_told))?;
    }
    if total.next_cursor.is_some() {
        console.note(&format!("Cut short after {looked_at} runs: there may be more."))?;
    }
    Ok(())
}
