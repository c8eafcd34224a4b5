"""The disk has changed a byte of a render; verify names the file, and an older version takes its place."""

import glob

SEE = "a photo looks wrong, or the disk had errors"


def drill(site):
    site.worker()
    asset = site.photo("photo.png")
    for number in range(2):
        site.send(f"edit-{number}", asset, {"filters": [{"name": "CISepiaTone", "inputIntensity": number / 2}]})
        site.wait_for_counter("completed", number + 1)
    [render] = glob.glob(f"{site.library}/edits/{asset}/versions/2-*/photo.png")
    with open(render, "rb") as file:
        kept = file.read()
    with open(render, "r+b") as file:
        file.seek(len(kept) // 2)
        file.write(bytes([kept[len(kept) // 2] ^ 1]))

    site.see("minilab verify", "render", fails=1)
    site.see("minilab history ASSET", "edit-1", ASSET=asset)

    site.does("restore the version's folder from a backup", "the file as it was")
    with open(render, "wb") as file:
        file.write(kept)
    site.run("minilab verify")
    site.is_well(completed=2)
