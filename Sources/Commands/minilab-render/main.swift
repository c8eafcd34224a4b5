import Glibc
import RenderProtocol
import Rendering

Engine.answerVersion(CommandLine.arguments)
exit(RenderChild.run().rawValue)
