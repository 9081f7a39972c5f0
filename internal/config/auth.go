package config

import (
	"errors"
	"strings"
)

// Auth is the user and password that hosts are shown (RFC 7617): user:${VARIABLE}, user:@FILE, or a reference for both.
type Auth struct {
	user, password reference // user alone stands for both

	plainUser, plainPassword string
}

// User returns the user's name.
func (a Auth) User() string { return a.plainUser }

// Password returns what the password's reference stands for.
func (a Auth) Password() string { return a.plainPassword }

func (Auth) parse(text string) (Auth, error) {
	const want = "USER:${VARIABLE} or USER:@FILE, which name the password"
	user, password, cut := strings.Cut(text, ":")
	if strings.HasPrefix(text, "@") { // a file's name may hold colons
		user, password, cut = text, "", false
	}
	u, userNamed, userOK := newReference(user)
	p, passwordNamed, passwordOK := newReference(password)
	switch {
	case text == "":
		return Auth{}, bad(want, text)
	case user == "":
		return Auth{}, &badValue{want: want, got: "no user before the colon", secret: true}
	case cut && !passwordNamed, !cut && !userNamed:
		return Auth{}, literalSecret(want)
	case !userOK || !passwordOK:
		return Auth{}, &badValue{want: want, got: "another text", secret: true}
	}
	return Auth{user: u, password: p}, nil
}

func (a Auth) String() string {
	if a.password == "" {
		return string(a.user)
	}
	return string(a.user) + ":" + string(a.password)
}

// Type is the word that stands for an Auth in a flag's help.
func (Auth) Type() string { return "user:secret" }

func (a *Auth) resolve(env []string) error {
	user, err := a.user.resolve(env)
	password, passwordErr := a.password.resolve(env)
	if err := errors.Join(err, passwordErr); err != nil {
		return err
	}
	if a.password == "" {
		var cut bool
		if user, password, cut = strings.Cut(user, ":"); !cut {
			return errors.New("want USER:PASSWORD from " + string(a.user) + ", got no colon in it")
		}
	}
	switch {
	case user == "":
		return errors.New("want a user's name before the password")
	case strings.Contains(user, ":"):
		return errors.New("want a user's name without a colon") // RFC 7617, section 2
	}
	a.plainUser, a.plainPassword = user, password
	return nil
}

func (a *Auth) references() []reference { return []reference{a.user, a.password} }
