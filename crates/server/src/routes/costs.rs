//! What calls to models cost: of one run, and of a workspace by day, workflow and model.

use std::collections::BTreeMap;

use abide_core::history::Change;
use abide_core::id::RunId;
use abide_core::spent::Spent;
use abide_engine::stored::{CostRow, Scope};
use axum::extract::State;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Id, Query};
use crate::shape::Answer;

const READ: Access = Access::Key(&[Scope::Read]);
/// Days that one summary may cover.
const DAYS: i32 = 366;

pub(super) fn routes() -> Group {
    Group::new("costs", "What calls to models used up. Money is in millionths of the currency of the price table.")
        .add(
            Endpoint::new(Verb::Get, "/workflow-runs/{id}/cost", READ, "Get what a run's calls to models cost")
                .about(
                    "Calls that failed count too. Runs that it started have costs of their own. A model without a price \
                     costs nothing here, and is counted in `unpricedCalls`.",
                )
                .ok::<RunCostBody>("All calls together, and by step and model.")
                .codes(&[Code::UnknownRun]),
            of_run,
        )
        .add(
            Endpoint::new(Verb::Get, "/cost/summary", READ, "Get what calls to models cost, by day, workflow and model")
                .about("Days are those of UTC. What was spent is kept when runs are forgotten.")
                .query::<SummaryQuery>()
                .ok::<SummaryBody>("All together, and each day, workflow and model."),
            summary,
        )
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Spent")]
struct SpentBody {
    /// Failed ones too.
    calls: u64,
    input_tokens: u64,
    /// Input tokens that a provider had seen before, a part of all input tokens.
    cached_input_tokens: u64,
    output_tokens: u64,
    /// In millionths of the currency of the price table.
    cost_micros: u64,
    /// Calls that used tokens of a model without a price.
    unpriced_calls: u64,
}

impl From<Spent> for SpentBody {
    fn from(spent: Spent) -> SpentBody {
        let Spent { calls, input_tokens, cached_input_tokens, output_tokens, cost_micros, unpriced_calls } =
            spent;
        SpentBody { calls, input_tokens, cached_input_tokens, output_tokens, cost_micros, unpriced_calls }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RunCost")]
struct RunCostBody {
    #[schemars(with = "String")]
    run_id: RunId,
    total: SpentBody,
    /// What the run may spend, if its workflow says so.
    budget_micros: Option<u64>,
    by_step: Vec<StepCostBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StepCost")]
struct StepCostBody {
    step_name: String,
    model: String,
    #[serde(flatten)]
    spent: SpentBody,
}

async fn of_run(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
) -> Result<Answer<RunCostBody>, Problem> {
    let current = app.run(&caller, run).await?;
    let stored = app.engine.workspace(caller.workspace).run(run).history().await?;
    let mut by_step: BTreeMap<(String, String), Spent> = BTreeMap::new();
    let mut total = Spent::default();
    for record in stored.iter().flat_map(|stored| &stored.history) {
        if let Change::LlmCallCompleted { at, call } = &record.change {
            total.add(call);
            by_step.entry((current.step_name(*at), call.model.to_string())).or_default().add(call);
        }
    }
    let by_step = by_step.into_iter().map(|((step_name, model), spent)| {
        let spent = spent.into();
        StepCostBody { step_name, model, spent }
    });
    Ok(Answer::ok(RunCostBody {
        run_id: run,
        total: total.into(),
        budget_micros: current.definition.document.budget_micros,
        by_step: by_step.collect(),
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SummaryQuery {
    /// The first day; today if absent.
    #[schemars(with = "Option<String>", extend("format" = "date"))]
    from: Option<Date>,
    /// The last day; today if absent.
    #[schemars(with = "Option<String>", extend("format" = "date"))]
    until: Option<Date>,
    /// Only runs of this workflow.
    definition: Option<String>,
    /// Only this model.
    model: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CostSummary")]
struct SummaryBody {
    total: SpentBody,
    data: Vec<DayCostBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DayCost")]
struct DayCostBody {
    #[schemars(with = "String", extend("format" = "date"))]
    day: Date,
    definition: String,
    model: String,
    #[serde(flatten)]
    spent: SpentBody,
}

async fn summary(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<SummaryQuery>,
) -> Result<Answer<SummaryBody>, Problem> {
    let today = app.engine.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let until = query.until.unwrap_or(today);
    let from = query.from.unwrap_or(until);
    let days = (until - from).get_days();
    if !(0..DAYS).contains(&days) {
        let why = format!("`from` and `until` are {days} days apart; from 0 to {} are possible", DAYS - 1);
        return Err(Problem::malformed("/from", why));
    }
    let rows = app.engine.workspace(caller.workspace).costs(from, until).await?;
    let wanted = |row: &CostRow| {
        query.definition.as_ref().is_none_or(|name| *name == row.definition)
            && query.model.as_ref().is_none_or(|name| *name == row.model)
    };
    let mut total = Spent::default();
    let mut data = Vec::new();
    for row in rows.into_iter().filter(wanted) {
        total.merge(&row.spent);
        let CostRow { day, definition, model, spent } = row;
        data.push(DayCostBody { day, definition, model, spent: spent.into() });
    }
    Ok(Answer::ok(SummaryBody { total: total.into(), data }))
}
