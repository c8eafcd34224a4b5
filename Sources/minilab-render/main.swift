print("minilab-render")
