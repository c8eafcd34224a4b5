import Glibc
import RenderProtocol
import TextChild

Engine.answerVersion(CommandLine.arguments)
exit(TextChild.run().rawValue)
