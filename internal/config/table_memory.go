package config

// memorySettings bound what is held in memory.
var memorySettings = []setting{
	{key: "max_hosts", section: memory,
		usage: "hosts with work to hold in memory",
		at:    func(s *Settings) slot { return one(&s.MaxHosts) },
		check: func(s *Settings) string { return within(s.MaxHosts, 1, 1e9) },
	},
	{key: "max_tasks", section: memory,
		usage: "URLs to be fetched to hold in memory",
		at:    func(s *Settings) slot { return one(&s.MaxTasks) },
		check: func(s *Settings) string { return within(s.MaxTasks, 1, 1e9) },
	},
	{key: "robots_memory", section: memory,
		usage: "bytes for the rules of robots.txt files that take more than 4 KiB each",
		note:  "Beyond it those that were used longest ago are forgotten, and asked for again before their host's next page.",
		at:    func(s *Settings) slot { return one(&s.RobotsMemory) },
		check: func(s *Settings) string { return within(s.RobotsMemory, 4<<10, 1<<40) },
	},
	{key: "body_memory", section: memory,
		usage: "bytes for all bodies in flight together: as sent, as decoded, and to decode them",
		note: "At least twice max_body and 132Mi. Small pages go on beside large ones; when large ones use it up they wait for each " +
			"other, at most for the time of timeout beyond it, and are then cut, and tried again. Beside it each request has 128Ki.",
		at:    func(s *Settings) slot { return one(&s.BodyMemory) },
		check: func(s *Settings) string { return enoughForBody(s.BodyMemory, s.MaxBody) },
	},
}
