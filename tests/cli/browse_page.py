"""Opens a page of --report in chromium without a network, uses it as people do, and prints "as expected".

usage: browse_page.py grid|single PAGE

Exits with 77 if chromium, its driver or selenium is missing, and says which.
"""

import shutil
import sys
from pathlib import Path

browser = shutil.which("chromium")
driver_program = shutil.which("chromedriver")
if browser is None or driver_program is None:
    print("chromium and chromium-driver are not installed")
    sys.exit(77)
try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    print("python3-selenium is not installed")
    sys.exit(77)


def start():
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1200,900"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.chrome.service.Service(driver_program)
    driver = webdriver.Chrome(service=service, options=options)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                           {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


def expect(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")


def background(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    color = driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
    return sum(int(part) for part in color[4:-1].split(","))


def share_before(driver, viewer):
    """The part of the stage, in percent, that shows the picture before; and the pictures that are seen there."""
    return driver.execute_script(
        """const stage = arguments[0].querySelector(".stage");
        const box = stage.getBoundingClientRect();
        let before = 0;
        const steps = 200;
        for (let i = 0; i < steps; ++i) {
          const x = box.left + (i + .5) * box.width / steps;
          const seen = document.elementsFromPoint(x, box.top + box.height * .8).find(e => e.tagName === "IMG");
          before += seen.parentElement.className === "before" ? 1 : 0;
        }
        return Math.round(100 * before / steps);""", viewer)


def near(driver, viewer, expected, what):
    found = share_before(driver, viewer)
    if abs(found - expected) > 2:
        sys.exit(f"{what}: {found} % show the picture before instead of {expected} %")


def check_viewer(driver, viewer):
    divider = viewer.find_element(By.CSS_SELECTOR, ".divider")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", divider)
    loaded = "return [...arguments[0].querySelectorAll('img')].every(i => i.complete && i.naturalWidth > 0)"
    WebDriverWait(driver, 20).until(lambda d: d.execute_script(loaded, viewer))
    near(driver, viewer, 50, "at first")
    width = divider.size["width"]
    ActionChains(driver).move_to_element_with_offset(divider, round(width * .25), 0).click().perform()
    near(driver, viewer, 75, "after a click")
    ActionChains(driver).click_and_hold().move_by_offset(-round(width * .5), 0).release().perform()
    near(driver, viewer, 25, "after a drag")
    expect(divider.get_attribute("aria-valuetext").split(" ")[0], divider.get_attribute("value"), "aria-valuetext")
    divider.send_keys(Keys.HOME)
    near(driver, viewer, 0, "after Home")
    for _ in range(10):
        divider.send_keys(Keys.ARROW_RIGHT)
    near(driver, viewer, 10, "after ten steps to the right")
    divider.send_keys(Keys.PAGE_UP)
    near(driver, viewer, 20, "after a page")
    divider.send_keys(Keys.END)
    near(driver, viewer, 100, "after End")
    for mode, shown in [("difference", ["difference"]), ("side", ["after", "before"]), ("slider", ["after", "before"])]:
        button = viewer.find_element(By.CSS_SELECTOR, f"[data-mode={mode}]")
        button.click()
        expect(button.get_attribute("aria-pressed"), "true", mode)
        figures = viewer.find_elements(By.TAG_NAME, "figure")
        expect(sorted(f.get_attribute("class") for f in figures if f.is_displayed()), shown, mode)


def check_grid(driver):
    def names():
        cards = driver.find_elements(By.CSS_SELECTOR, ".card")
        return [card.find_element(By.CLASS_NAME, "name").text for card in cards if card.is_displayed()]

    everything = names()
    field = driver.find_element(By.ID, "name")
    field.send_keys("B")
    expect(names(), ["b.png"], "the name filter")
    expect(driver.find_element(By.ID, "shown").text, f"1 of {len(everything)} shown", "the count")
    field.clear()
    field.send_keys("x", Keys.BACKSPACE)
    driver.find_element(By.CSS_SELECTOR, ".controls [data-status=failed]").click()
    expect(names(), ["torn.png"], "the filter for failures")
    driver.find_element(By.CSS_SELECTOR, ".controls [data-status='']").click()
    expect(names(), everything, "no filter")
    Select(driver.find_element(By.ID, "order")).select_by_value("name")
    expect(names(), sorted(everything), "the order by name")

    card = driver.find_element(By.CSS_SELECTOR, ".card .open")
    card.send_keys(Keys.ENTER)
    dialog = driver.find_element(By.ID, "detail")
    expect(driver.find_element(By.ID, "detail-name").text, sorted(everything)[0], "the picture in the dialog")
    check_viewer(driver, dialog.find_element(By.CLASS_NAME, "viewer"))
    driver.find_element(By.ID, "next").click()
    expect(driver.find_element(By.ID, "detail-name").text, sorted(everything)[1], "the next picture")
    ActionChains(driver).send_keys(Keys.ESCAPE).perform()
    expect(dialog.is_displayed(), False, "the dialog after Escape")


def check_traffic(driver, page):
    import json
    folder = page.rsplit("/", 1)[0] + "/"
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        if not url.startswith((folder, "data:", "about:")):
            sys.exit(f"{url} was requested")
    complaints = [entry["message"] for entry in driver.get_log("browser")]
    expect(complaints, [], "the console")


def main():
    kind, path = sys.argv[1:]
    page = Path(path).resolve().as_uri()
    driver = start()
    try:
        driver.get(page)
        if background(driver, "light") < 600 or background(driver, "dark") > 150:
            sys.exit("the page does not follow light and dark")
        if kind == "grid":
            check_grid(driver)
        else:
            check_viewer(driver, driver.find_element(By.CLASS_NAME, "viewer"))
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True})
        expect(driver.execute_script("return document.documentElement.scrollWidth"), 360, "the width on a phone")
        check_traffic(driver, page)
    finally:
        driver.quit()
    print("as expected")


main()
