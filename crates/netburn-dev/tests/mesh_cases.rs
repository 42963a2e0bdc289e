//! Built-in cases of meshes: every value is within its tolerance or explained.

use netburn_dev::validate::{CaseResult, built_in, run};

#[test]
fn mesh_cases_are_within_tolerance() {
    let files = built_in::models().unwrap();
    let files: Vec<_> = files.into_iter().filter(|file| file.name == "mesh.toml").collect();
    let outcomes = run(&files, 2, &|_, _| {});
    assert!(outcomes.len() > 50, "{}", outcomes.len());
    let beyond: Vec<_> = outcomes
        .iter()
        .filter(|one| one.result() == CaseResult::Beyond)
        .collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
}
