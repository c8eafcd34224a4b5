# Sidekiq with its default of 10 threads; the same command line as program.py of the Python peers.
require "json"
require "set"
require "sidekiq"
require "sidekiq/launcher"

CHUNK = 1000 # what its documentation recommends for push_bulk
THREADS = 10

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Edit
  include Sidekiq::Worker
  RAN = Queue.new # threads append to it
  def perform(asset, _recipe)
    RAN << asset
  end
end

class Stamp
  include Sidekiq::Worker
  def perform(sent)
    waited = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - sent
    $stdout.write(JSON.generate(waitedNanoseconds: waited) + "\n")
  end
end

class Hang
  include Sidekiq::Worker
  def perform(ledger)
    first = !File.exist?(ledger)
    File.write(ledger, "#{now}\n", mode: "a")
    sleep 3600 if first
  end
end

def enqueue(count)
  payloads = (0...count).map { |number| [format("2026/11/photo-%07d.jpg", number), "recipe-1"] }
  start = now
  payloads.each_slice(CHUNK) { |chunk| Sidekiq::Client.push_bulk("class" => Edit, "args" => chunk) }
  puts JSON.generate(seconds: now - start)
end

def launcher
  options = Sidekiq.options.merge(queues: ["default"], concurrency: THREADS, strict: true)
  Sidekiq::Launcher.new(options)
end

def work(count)
  start = now
  running = launcher
  running.run
  assets = Array.new(count) { Edit::RAN.pop } # waits for each
  finish = now
  running.stop
  assets << Edit::RAN.pop until Edit::RAN.empty?
  puts JSON.generate(seconds: finish - start, effects: assets.size, distinct: assets.to_set.size)
end

def send_lines
  $stdin.each_line do |line|
    name, argument = line.split
    if name == "stamp"
      Stamp.perform_async(Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond))
    else
      Hang.perform_async(argument)
    end
  end
end

$stdout.sync = true
Redis.silence_deprecations = true # Debian's redis-rb warns about Debian's Sidekiq, at each call
Sidekiq.logger.level = Logger::ERROR
socket, action, count = ARGV
Sidekiq.redis = {url: "unix://#{socket}", size: THREADS + 5}
case action
when "enqueue" then enqueue(Integer(count))
when "work" then work(Integer(count))
when "stand"
  launcher.run
  sleep
when "send" then send_lines
else abort "#{action} is not enqueue, work, stand or send"
end
