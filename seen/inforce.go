package seen

// Config returns the settings in force. The seed is among them, which is secret: a filter made with all of them can be
// joined with this one.
func (s *Scalable) Config() Config { return s.cfg }

// Config returns the settings in force. The seed is among them, which is secret: a filter made with all of them can be
// joined with this one.
func (b *Bloom) Config() Config { return b.cfg }

// Config returns the settings in force. The seed is among them, which is secret.
func (s *Shared) Config() Config { return s.chain.cfg }

// Config returns the settings in force. The seed is among them, which is secret.
func (c *Counting) Config() Config { return c.cfg }

// Config returns the settings in force. The seed is among them, which is secret.
func (c *Cuckoo) Config() Config { return c.cfg }

// Config returns the settings in force. The seed is among them, which is secret.
func (w *Window) Config() WindowConfig { return w.cfg }

// Config returns the settings in force, which are those of the filter in front. The seed is among them, which is secret.
func (e *Exact) Config() Config { return e.front.cfg }

// Config returns the settings in force, which are those of the filter in front. The seed is among them, which is secret.
func (t *Table) Config() Config { return t.front.cfg }

// Config returns the settings in force, but for ExpectedItems: keys are counted. The seed is among them, which is secret.
func (b *TableBuilder) Config() Config { return b.config }
