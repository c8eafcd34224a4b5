import MinilabCommands

await Minilab.main()
