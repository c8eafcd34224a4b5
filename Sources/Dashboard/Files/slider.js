// slider
