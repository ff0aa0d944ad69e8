//! A workflow changes while runs of it wait.

use super::host::Host;

const ONE: &str = "name: order\nversion: '1'\nsteps:\n  - {name: paid, type: external_event, signalType: payment}\n  - {name: nap, type: wait, duration: 1d}\n";
const TWO: &str = "name: order\nversion: '2'\nsteps:\n  - {name: paid, type: external_event, signalType: payment}\n  - {name: checked, type: external_event, signalType: ok}\n  - {name: nap, type: wait, duration: 1d}\n";

#[test]
fn a_deploy_is_checked_against_the_runs_that_wait_and_those_that_fit_are_moved() {
    let host = Host::start();
    let waits = host.started(ONE);
    let naps = host.ok(&["start", "order"]);
    host.ok(&["signal", &naps, "payment"]);
    host.file("new.yaml", TWO);

    let said = host.abide(&["deploy", "--check", "new.yaml"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("of 2 waiting runs 1 fit, 1 would be stranded"), "{said:?}");
    assert!(said.out.contains("stranded  1 of version 1 that wait at `nap`"), "{said:?}");
    assert!(said.out.contains("`checked`: ") && said.out.contains("[STEP_NOT_DONE]"), "{said:?}");
    assert!(
        said.out.contains(&naps) && said.out.contains("fit  1 of version 1 that wait at `paid`"),
        "{said:?}"
    );
    let json = host.abide(&["deploy", "--check", "new.yaml", "--json"]);
    assert_eq!((json.code, json.out.contains("\"stranded\":1")), (1, true), "{json:?}");
    assert_eq!(host.abide(&["deploy", "--check", "new.yaml", "--from", "7"]).code, 0);

    host.ok(&["deploy", "new.yaml"]);
    assert_eq!(
        host.ok(&["move", &waits, "--to", "2", "--dry-run"]),
        format!("{waits} fits version 2; nothing was changed")
    );
    let all = ["move", "--all", "--workflow", "order", "--from", "1", "--to", "2", "--dry-run"];
    let said = host.abide(&all);
    assert_eq!(
        (said.code, said.out.trim_end()),
        (4, "2 runs found, 1 fit, 1 do not; nothing was changed"),
        "{said:?}"
    );
    assert!(said.err.contains(&naps) && said.err.contains("[RUN_DOES_NOT_FIT]"), "{said:?}");
    assert_eq!(
        host.ok(&["move", &waits, "--to", "2"]),
        format!("{waits} was moved from 1 to 2, and is WAITING")
    );
    assert_eq!(host.ok(&["move", &waits, "--to", "2"]), format!("{waits} is of version 2 already"));
    let said = host.abide(&["move", &naps, "--to", "2"]);
    assert_eq!(said.code, 4, "{said:?}");
    host.ok(&["signal", &waits, "payment"]);
    let steps = &host.json(&["show", &waits])["steps"];
    assert_eq!(steps[1]["status"], "WAITING");
    assert!(host.ok(&["history", &waits]).contains("WORKFLOW_MOVED"));
    assert_eq!(host.abide(&["move", "--all", "--to", "2"]).code, 2, "it needs a workflow");
}
