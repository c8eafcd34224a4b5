import MinilabCommands

await GatewayCommand.runAsProcess()
