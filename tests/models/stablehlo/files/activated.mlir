module @jit_activated attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x5xf32>) -> (tensor<?x5xf32> {jax.result_info = "result[0]"}, tensor<?x5xf32> {jax.result_info = "result[1]"}, tensor<?x5xf32> {jax.result_info = "result[2]"}, tensor<?x5xf32> {jax.result_info = "result[3]"}, tensor<?x5xf32> {jax.result_info = "result[4]"}, tensor<?x5xf32> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 5). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2:6 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>)
    return %2#0, %2#1, %2#2, %2#3, %2#4, %2#5 : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5xf32>) -> (tensor<?x5xf32> {jax.result_info = "result[0]"}, tensor<?x5xf32> {jax.result_info = "result[1]"}, tensor<?x5xf32> {jax.result_info = "result[2]"}, tensor<?x5xf32> {jax.result_info = "result[3]"}, tensor<?x5xf32> {jax.result_info = "result[4]"}, tensor<?x5xf32> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %c = stablehlo.constant dense<5> : tensor<1xi32>
    %cst_5 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %0 = stablehlo.multiply %arg1, %arg1 : tensor<?x5xf32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<?x5xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_5, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %5 = stablehlo.multiply %4, %1 : tensor<?x5xf32>
    %6 = stablehlo.add %arg1, %5 : tensor<?x5xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %7, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_4, %8, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %10 = stablehlo.multiply %9, %6 : tensor<?x5xf32>
    %11 = stablehlo.tanh %10 : tensor<?x5xf32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst_3, %13, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %15 = stablehlo.add %14, %11 : tensor<?x5xf32>
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_2, %17, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %19 = stablehlo.multiply %18, %15 : tensor<?x5xf32>
    %20 = stablehlo.multiply %arg1, %19 : tensor<?x5xf32>
    %21 = call @silu(%arg0, %arg1) : (tensor<i32>, tensor<?x5xf32>) -> tensor<?x5xf32>
    %22 = call @softplus(%arg0, %arg1) : (tensor<i32>, tensor<?x5xf32>) -> tensor<?x5xf32>
    %23 = call @clip(%arg0, %arg1, %cst_1, %cst_3) : (tensor<i32>, tensor<?x5xf32>, tensor<f32>, tensor<f32>) -> tensor<?x5xf32>
    %24 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %24, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.dynamic_broadcast_in_dim %cst_0, %25, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %27 = stablehlo.compare GT, %arg1, %26, FLOAT : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xi1>
    %28 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %28, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %cst, %29, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %31 = stablehlo.multiply %30, %arg1 : tensor<?x5xf32>
    %32 = call @_where(%arg0, %27, %arg1, %31) : (tensor<i32>, tensor<?x5xi1>, tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
    %33 = stablehlo.sine %arg1 : tensor<?x5xf32>
    %34 = stablehlo.multiply %33, %33 : tensor<?x5xf32>
    %35 = stablehlo.sign %arg1 : tensor<?x5xf32>
    %36 = stablehlo.composite "chlo.erf" %arg1 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<?x5xf32>) -> tensor<?x5xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<?x5xf32>
    %38 = stablehlo.add %34, %37 : tensor<?x5xf32>
    return %20, %21, %22, %23, %32, %38 : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  }
  func.func private @chlo.erf.impl(%arg0: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<-0.0142647391> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-0.00737332925> : tensor<f32>
    %cst_3 = stablehlo.constant dense<-0.00168282702> : tensor<f32>
    %cst_4 = stablehlo.constant dense<-2.13374049E-4> : tensor<f32>
    %cst_5 = stablehlo.constant dense<-1.45660715E-5> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-0.0160960332> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-2.954600e-03> : tensor<f32>
    %cst_8 = stablehlo.constant dense<-7.34990637E-4> : tensor<f32>
    %cst_9 = stablehlo.constant dense<-5.69250624E-5> : tensor<f32>
    %cst_10 = stablehlo.constant dense<-2.10102394E-6> : tensor<f32>
    %cst_11 = stablehlo.constant dense<2.77068146E-8> : tensor<f32>
    %cst_12 = stablehlo.constant dense<-2.72614237E-10> : tensor<f32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %cst_14 = stablehlo.constant dense<-4.000000e+00> : tensor<f32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_14, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %6 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %9 = stablehlo.reshape %8 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %7, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst_13, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %12 = stablehlo.clamp %5, %arg0, %11 : tensor<?x5xf32>
    %13 = stablehlo.multiply %12, %12 : tensor<?x5xf32>
    %14 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %17 = stablehlo.reshape %16 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %15, %17, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %cst_12, %18, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %20 = stablehlo.multiply %19, %13 : tensor<?x5xf32>
    %21 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %22 = stablehlo.reshape %21 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %24 = stablehlo.reshape %23 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %22, %24, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.dynamic_broadcast_in_dim %cst_11, %25, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %27 = stablehlo.add %20, %26 : tensor<?x5xf32>
    %28 = stablehlo.multiply %27, %13 : tensor<?x5xf32>
    %29 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %32 = stablehlo.reshape %31 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.concatenate %30, %32, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = stablehlo.dynamic_broadcast_in_dim %cst_10, %33, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %35 = stablehlo.add %28, %34 : tensor<?x5xf32>
    %36 = stablehlo.multiply %35, %13 : tensor<?x5xf32>
    %37 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %38 = stablehlo.reshape %37 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %40 = stablehlo.reshape %39 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.concatenate %38, %40, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %42 = stablehlo.dynamic_broadcast_in_dim %cst_9, %41, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %43 = stablehlo.add %36, %42 : tensor<?x5xf32>
    %44 = stablehlo.multiply %43, %13 : tensor<?x5xf32>
    %45 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %46 = stablehlo.reshape %45 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %48 = stablehlo.reshape %47 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.concatenate %46, %48, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %cst_8, %49, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %51 = stablehlo.add %44, %50 : tensor<?x5xf32>
    %52 = stablehlo.multiply %51, %13 : tensor<?x5xf32>
    %53 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %54 = stablehlo.reshape %53 : (tensor<i32>) -> tensor<1xi32>
    %55 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %56 = stablehlo.reshape %55 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.concatenate %54, %56, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %58 = stablehlo.dynamic_broadcast_in_dim %cst_7, %57, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %59 = stablehlo.add %52, %58 : tensor<?x5xf32>
    %60 = stablehlo.multiply %59, %13 : tensor<?x5xf32>
    %61 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %62 = stablehlo.reshape %61 : (tensor<i32>) -> tensor<1xi32>
    %63 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %64 = stablehlo.reshape %63 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.concatenate %62, %64, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %66 = stablehlo.dynamic_broadcast_in_dim %cst_6, %65, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %67 = stablehlo.add %60, %66 : tensor<?x5xf32>
    %68 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %69 = stablehlo.reshape %68 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %71 = stablehlo.reshape %70 : (tensor<i32>) -> tensor<1xi32>
    %72 = stablehlo.concatenate %69, %71, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %73 = stablehlo.dynamic_broadcast_in_dim %cst_5, %72, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %74 = stablehlo.multiply %73, %13 : tensor<?x5xf32>
    %75 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %76 = stablehlo.reshape %75 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %78 = stablehlo.reshape %77 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.concatenate %76, %78, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %80 = stablehlo.dynamic_broadcast_in_dim %cst_4, %79, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %81 = stablehlo.add %74, %80 : tensor<?x5xf32>
    %82 = stablehlo.multiply %81, %13 : tensor<?x5xf32>
    %83 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %84 = stablehlo.reshape %83 : (tensor<i32>) -> tensor<1xi32>
    %85 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %86 = stablehlo.reshape %85 : (tensor<i32>) -> tensor<1xi32>
    %87 = stablehlo.concatenate %84, %86, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %88 = stablehlo.dynamic_broadcast_in_dim %cst_3, %87, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %89 = stablehlo.add %82, %88 : tensor<?x5xf32>
    %90 = stablehlo.multiply %89, %13 : tensor<?x5xf32>
    %91 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %92 = stablehlo.reshape %91 : (tensor<i32>) -> tensor<1xi32>
    %93 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %94 = stablehlo.reshape %93 : (tensor<i32>) -> tensor<1xi32>
    %95 = stablehlo.concatenate %92, %94, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %96 = stablehlo.dynamic_broadcast_in_dim %cst_2, %95, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %97 = stablehlo.add %90, %96 : tensor<?x5xf32>
    %98 = stablehlo.multiply %97, %13 : tensor<?x5xf32>
    %99 = stablehlo.get_dimension_size %13, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %100 = stablehlo.reshape %99 : (tensor<i32>) -> tensor<1xi32>
    %101 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %102 = stablehlo.reshape %101 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.concatenate %100, %102, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %104 = stablehlo.dynamic_broadcast_in_dim %cst_1, %103, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %105 = stablehlo.add %98, %104 : tensor<?x5xf32>
    %106 = stablehlo.multiply %12, %67 : tensor<?x5xf32>
    %107 = stablehlo.divide %106, %105 : tensor<?x5xf32>
    %108 = stablehlo.get_dimension_size %12, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %109 = stablehlo.reshape %108 : (tensor<i32>) -> tensor<1xi32>
    %110 = stablehlo.get_dimension_size %12, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %111 = stablehlo.reshape %110 : (tensor<i32>) -> tensor<1xi32>
    %112 = stablehlo.concatenate %109, %111, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %113 = stablehlo.dynamic_broadcast_in_dim %cst_0, %112, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %114 = stablehlo.get_dimension_size %12, dim = 0 : (tensor<?x5xf32>) -> tensor<i32>
    %115 = stablehlo.reshape %114 : (tensor<i32>) -> tensor<1xi32>
    %116 = stablehlo.get_dimension_size %12, dim = 1 : (tensor<?x5xf32>) -> tensor<i32>
    %117 = stablehlo.reshape %116 : (tensor<i32>) -> tensor<1xi32>
    %118 = stablehlo.concatenate %115, %117, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %119 = stablehlo.dynamic_broadcast_in_dim %cst, %118, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %120 = stablehlo.clamp %113, %107, %119 : tensor<?x5xf32>
    return %120 : tensor<?x5xf32>
  }
  func.func private @silu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %c = stablehlo.constant dense<5> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.negate %arg1 : tensor<?x5xf32>
    %1 = stablehlo.exponential %0 : tensor<?x5xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %5 = stablehlo.add %4, %1 : tensor<?x5xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %9 = stablehlo.divide %8, %5 : tensor<?x5xf32>
    %10 = stablehlo.multiply %arg1, %9 : tensor<?x5xf32>
    return %10 : tensor<?x5xf32>
  }
  func.func private @softplus(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %c = stablehlo.constant dense<5> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %3 = stablehlo.maximum %arg1, %2 : tensor<?x5xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %4, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %cst, %5, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %7 = stablehlo.subtract %arg1, %6 : tensor<?x5xf32>
    %8 = stablehlo.compare NE, %7, %7, FLOAT : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xi1>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %12 = stablehlo.add %arg1, %11 : tensor<?x5xf32>
    %13 = stablehlo.abs %7 : tensor<?x5xf32>
    %14 = stablehlo.negate %13 : tensor<?x5xf32>
    %15 = stablehlo.exponential %14 : tensor<?x5xf32>
    %16 = stablehlo.log_plus_one %15 : tensor<?x5xf32>
    %17 = stablehlo.add %3, %16 : tensor<?x5xf32>
    %18 = stablehlo.select %8, %12, %17 : tensor<?x5xi1>, tensor<?x5xf32>
    return %18 : tensor<?x5xf32>
  }
  func.func private @clip(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> tensor<?x5xf32> {
    %c = stablehlo.constant dense<5> : tensor<1xi32>
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %0, %2, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %4 = stablehlo.maximum %3, %arg1 : tensor<?x5xf32>
    %5 = stablehlo.convert %arg3 : tensor<f32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %5, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32>
    %9 = stablehlo.minimum %8, %4 : tensor<?x5xf32>
    return %9 : tensor<?x5xf32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5xi1>, %arg2: tensor<?x5xf32>, %arg3: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %0 = stablehlo.select %arg1, %arg2, %arg3 : tensor<?x5xi1>, tensor<?x5xf32>
    return %0 : tensor<?x5xf32>
  }
}
