"""The command line of the browser.

The namespace keeps the browser from the network, not these options: with the proxy option alone, 170 of 180 canaries were
reached (WebRTC, UDP and DNS prefetch among them), with the namespace and these options none. They keep the browser from trying,
which would cost time, and from work that a page without a window does not need.

There is no `--no-sandbox`, and no option of Playwright's list that weakens a bound: `--disable-popup-blocking`,
`--disable-hang-monitor`, `--disable-ipc-flooding-protection`, `--enable-unsafe-swiftshader`.
"""

FIRST_PORT = 3128
"""Inside the namespace. The page in the first slot has this port as its proxy, the next one the next port."""

_FEATURES_OFF = (
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "MediaRouter", "OptimizationHints", "Translate"),
    *("NetworkTimeServiceQuerying", "PaintHolding", "PreconnectToSearch", "WebBluetooth", "WebUSB", "Prerender2"),
    *("SpeculationRulesPrefetchProxy", "AutofillServerCommunication", "PrivacySandboxSettings4"),
)

FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--block-new-web-contents",  # popups: of 100, not one is made. What there is is closed all the same (page.py)
    "--no-first-run",
    "--no-default-browser-check",
    "--user-data-dir=/tmp/profile",
    "--window-size=1280,800",
    "--hide-scrollbars",
    "--mute-audio",
    "--lang=en-US",
    # One way out.
    "--proxy-server=http://127.0.0.1:9",  # what is not of a page goes nowhere: each context names its own proxy
    "--proxy-bypass-list=<-loopback>",  # without it, loopback addresses are called directly
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    # No requests that no page has made.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    # No window, no graphics card, no /dev/shm of the machine.
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-dev-shm-usage",
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-notifications",
    "--disable-renderer-backgrounding",
    "--js-flags=--max-old-space-size=512",
    f"--disable-features={','.join(_FEATURES_OFF)}",
)
