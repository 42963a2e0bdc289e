//! Functions of the playground's module.
//!
//! The worker of the page writes a request to the address of [`engine_input`], calls [`engine_call`], and reads the reply, whose
//! length is the result, at [`engine_output`]. During a call the module calls `engine.progress`, which the worker provides.

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = RefCell::default();
    static OUTPUT: RefCell<String> = RefCell::default();
}

#[link(wasm_import_module = "engine")]
unsafe extern "C" {
    /// Number of simulations done, and of all of them; 0 if that is unknown.
    safe fn progress(done: f64, all: f64);
}

/// Returns the address for `length` bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn engine_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Returns the address of the output.
#[unsafe(no_mangle)]
pub extern "C" fn engine_output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Handles the input as a request in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn engine_call() -> usize {
    let request = INPUT.with_borrow(|input| String::from_utf8_lossy(input).into_owned());
    let reply = netburn_playground::call(&request, &|done, all| progress(done as f64, all as f64));
    OUTPUT.with_borrow_mut(|output| {
        *output = reply;
        output.len()
    })
}
