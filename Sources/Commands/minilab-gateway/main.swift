import Commands

await GatewayCommand.runAsProcess()
