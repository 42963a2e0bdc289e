document.getElementById("screen").textContent = "netburn station";
