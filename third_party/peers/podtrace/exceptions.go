package main

import (
	"fmt"
	"os"
	"regexp"

	"sigs.k8s.io/yaml"
)

// Exception explains differences of one kind in some rows.
type Exception struct {
	// Rows is a pattern of their whole names.
	Rows string `json:"rows"`
	Kind string `json:"kind"`
	// Like is a pattern of what differs, as the comparison prints it, details included.
	Like    string `json:"like"`
	Because string `json:"because"`
	// Sometimes: it depends on who is faster, so not every run needs it.
	Sometimes bool `json:"sometimes"`

	rows, like *regexp.Regexp
	used       bool
}

type exceptionList []*Exception

func readExceptions(file string) (exceptionList, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var table struct {
		Exceptions exceptionList `json:"exceptions"`
	}
	if err := yaml.UnmarshalStrict(text, &table); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, exception := range table.Exceptions {
		if err := exception.compile(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return table.Exceptions, nil
}

func (e *Exception) compile() (err error) {
	if e.Rows == "" || e.Kind == "" || e.Like == "" || e.Because == "" {
		return fmt.Errorf("an exception has rows, kind, like and because: %+v", *e)
	}
	if e.rows, err = regexp.Compile("^(" + e.Rows + ")$"); err != nil {
		return err
	}
	e.like, err = regexp.Compile("(?s)" + e.Like)
	return err
}

func (e *Exception) name() string { return fmt.Sprintf("%s in %s like %q", e.Kind, e.Rows, e.Like) }

// unused are those that no difference needed, without those that only some runs need.
func (list exceptionList) unused() []*Exception {
	var found []*Exception
	for _, exception := range list {
		if !exception.used && !exception.Sometimes {
			found = append(found, exception)
		}
	}
	return found
}

// sort tells differences that are explained from those that are not.
func (list exceptionList) sort(differences []Difference) (explained, open []Difference) {
	for _, difference := range differences {
		if exception := list.of(difference); exception != nil {
			exception.used = true
			difference.because = exception.Because
			explained = append(explained, difference)
		} else {
			open = append(open, difference)
		}
	}
	return explained, open
}

func (list exceptionList) of(difference Difference) *Exception {
	for _, exception := range list {
		if exception.Kind == difference.Kind && exception.rows.MatchString(difference.Row) && exception.like.MatchString(difference.String()) {
			return exception
		}
	}
	return nil
}
