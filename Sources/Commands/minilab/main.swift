import Commands

await Minilab.main()
