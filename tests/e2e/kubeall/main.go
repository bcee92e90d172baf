// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// kubeall is a whole Kubernetes control plane and node in one program, for the end-to-end tests: it becomes the
// component it is called as (argv[0], by a symbolic link) or the one that its first argument names. One program
// instead of seven saves most of the link time and 350 MB.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	_ "time/tzdata" // CronJobs with a time zone

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's credential plugins
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func daemon(make func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(make())) }
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func main() {
	components := map[string]func(){
		"etcd":                    func() { etcdmain.Main(os.Args) },
		"kubectl":                 runKubectl,
		"kube-apiserver":          daemon(apiserver.NewAPIServerCommand),
		"kube-controller-manager": daemon(manager.NewControllerManagerCommand),
		"kube-proxy":              daemon(proxy.NewProxyCommand),
		"kube-scheduler":          daemon(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kubelet":                 daemon(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	}
	run := components[filepath.Base(os.Args[0])]
	if run == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run = components[os.Args[0]]
	}
	if run == nil {
		fmt.Fprintf(os.Stderr, "kubeall: call it as one of %v\n", slices.Sorted(maps.Keys(components)))
		os.Exit(2)
	}
	run()
}
